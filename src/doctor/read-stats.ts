import { at, listAt, textAt } from './json.ts';
import type { Stats } from './view.ts';

/** Of what `stats?filter=` takes: all that this command looks at. */
export const STATS_FILTER =
  '^(cluster\\..+\\.(version_text|update_(success|rejected|empty|failure)|init_fetch_timeout|control_plane\\.connected_state' +
  '|upstream_(cx|rq_pending|rq_active|rq_retry)_overflow)|control_plane\\.connected_state' +
  '|(cluster_manager\\.cds|listener_manager\\.lds|http\\..+\\.rds\\..+)\\.update_rejected)$';

/** @returns undefined: it is no answer of `/stats?format=json` */
export function readStats(page: unknown): Stats | undefined {
  if (!Array.isArray(at(page, 'stats'))) return undefined;
  return new Map(
    listAt(page, 'stats').flatMap((entry) => {
      const name = textAt(entry, 'name');
      const value = at(entry, 'value');
      const isKnown = typeof value === 'number' || typeof value === 'string';
      return name !== undefined && isKnown ? [[name, value] as const] : [];
    }),
  );
}

/** undefined: there is no such number. */
export function numberOf(stats: Stats | undefined, name: string): number | undefined {
  const value = stats?.get(name);
  return typeof value === 'number' ? value : undefined;
}

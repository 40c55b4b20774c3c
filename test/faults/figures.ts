import type { Exchange } from './load.ts';
import type { Measured, Trace } from './measured.ts';
import type { Look } from './model.ts';
import { metric } from './observer.ts';

/** A restarted control plane counts from 0 again. */
export function pushesIn(looks: readonly Look[]): Pick<Measured, 'pushes' | 'surplusPushes'> {
  let pushes = 0;
  let surplus = 0;
  let most = 0;
  let before: { readonly pushes: number; readonly evaluations: number } | undefined;
  for (const { plane } of looks) {
    if (plane === undefined) continue;
    const from = before === undefined || plane.evaluations < before.evaluations ? NOTHING : before;
    const more = before === undefined ? 0 : plane.pushes - from.pushes;
    pushes += more;
    // of the stretch up to now in which most pushes had no evaluation of their own
    surplus = before === undefined ? 0 : Math.max(0, surplus + more - (plane.evaluations - from.evaluations));
    most = Math.max(most, surplus);
    before = plane;
  }
  return { pushes, surplusPushes: most };
}

const NOTHING = { pushes: 0, evaluations: 0 };

/** The lowest and the highest. */
export function capacitiesIn(looks: readonly Look[]): readonly [number, number] {
  const all = looks
    .flatMap(({ plane }) => plane?.backends.map(({ capacity }) => capacity) ?? [])
    .filter((capacity) => !Number.isNaN(capacity));
  return [Math.min(...all), Math.max(...all)];
}

/** A stretch of time that a share is of. */
const WINDOW_MS = 3_000;
/** A share of fewer says nothing. */
const FEWEST_REQUESTS = 30;

/** The highest share that one backend got in a stretch of 3 s, of those that follow each other from then on. */
export function mostShareIn(exchanges: readonly Exchange[], fromMs: number): number {
  const windows = new Map<number, Map<string, number>>();
  for (const { sentMs, backend, outcome } of exchanges) {
    const window = Math.floor((sentMs - fromMs) / WINDOW_MS);
    if (window < 0 || outcome !== 'ok' || backend === undefined) continue;
    const counts = windows.get(window) ?? new Map<string, number>();
    windows.set(window, counts.set(backend, (counts.get(backend) ?? 0) + 1));
  }
  const shares = [...windows.values()].map((counts) => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return total < FEWEST_REQUESTS ? 0 : Math.max(...counts.values()) / total;
  });
  return shares.length === 0 ? Number.NaN : Math.max(...shares);
}

/** The look in short. */
export function traceOf({ at, plane, sidecars }: Look): Trace {
  const page = plane?.page ?? '';
  return {
    at,
    mode: plane?.mode ?? 'no answer',
    shed: plane?.shed ?? Number.NaN,
    unhealthy: plane?.backends.filter(({ health }) => health === 'UNHEALTHY').length ?? Number.NaN,
    queued: metric(page, 'plimsoll_backend_queued_requests'),
    running: metric(page, 'plimsoll_backend_running_requests'),
    streams: plane?.streams ?? Number.NaN,
    pushes: plane?.pushes ?? Number.NaN,
    held: sidecars.map((held) => [held.length, held.filter(({ health }) => health === 'HEALTHY').length]),
  };
}

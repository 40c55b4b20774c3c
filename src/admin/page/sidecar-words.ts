import type { SidecarGroup, SidecarState } from '../state-shape.ts';
import { age } from './cells.ts';

/** For this long after a publication a sidecar may be about to take it. */
const ON_THE_WAY_SECONDS = 5;

export type SidecarStanding = 'current' | 'on the way' | 'behind' | 'unknown';

/** Where a sidecar stands with all its groups. `unknown`: it has acknowledged nothing since it came. */
export function standingOf({ groups }: SidecarState, now: number): SidecarStanding {
  if (groups.length === 0) return 'unknown';
  const standings = groups.map((group) => standingWith(group, now));
  return (['behind', 'on the way'] as const).find((one) => standings.includes(one)) ?? 'current';
}

export function standingWith({ behindSince }: SidecarGroup, now: number): SidecarStanding {
  if (behindSince === null) return 'current';
  return now - behindSince > 1000 * ON_THE_WAY_SECONDS ? 'behind' : 'on the way';
}

/** `current`, `behind for 40 s` */
export function standingWords(sidecar: SidecarState, now: number): string {
  const standing = standingOf(sidecar, now);
  if (standing === 'unknown') return 'nothing acknowledged yet';
  if (standing !== 'behind') return standing;
  const since = Math.min(...sidecar.groups.map(({ behindSince }) => behindSince ?? now));
  return `behind for ${age((now - since) / 1000)}`;
}

/** `3 ads`, `eds` */
export function streamWords(streams: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of streams) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} ${name}`)).join(', ');
}

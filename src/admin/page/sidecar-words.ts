import type { GoneSidecarState, SidecarGroup, SidecarState, SidecarsState } from '../state-shape.ts';
import { age, counted, integer } from './cells.ts';

/** For this long after a publication a sidecar may be about to take it. */
const ON_THE_WAY_SECONDS = 5;

export type SidecarStanding = 'current' | 'on the way' | 'behind' | 'refuses' | 'unknown';

/** Where a sidecar stands with all that it is sent. `unknown`: it has acknowledged nothing since it came. */
export function standingOf({ groups, nack }: SidecarState, now: number): SidecarStanding {
  if (nack !== null) return 'refuses';
  if (groups.length === 0) return 'unknown';
  const standings = groups.map((group) => standingWith(group, now));
  return (['behind', 'on the way'] as const).find((one) => standings.includes(one)) ?? 'current';
}

export function standingWith({ behindSince }: SidecarGroup, now: number): SidecarStanding {
  if (behindSince === null) return 'current';
  return now - behindSince > 1000 * ON_THE_WAY_SECONDS ? 'behind' : 'on the way';
}

/** `current`, `behind for 40 s`, `refuses, behind for 40 s` */
export function standingWords(sidecar: SidecarState, now: number): string {
  const standing = standingOf(sidecar, now);
  if (standing === 'unknown') return 'nothing acknowledged yet';
  const isBehind = sidecar.groups.some((group) => standingWith(group, now) === 'behind');
  if (!isBehind) return standing;
  const since = Math.min(...sidecar.groups.map(({ behindSince }) => behindSince ?? now));
  const behind = `behind for ${age((now - since) / 1000)}`;
  return standing === 'refuses' ? `refuses, ${behind}` : behind;
}

/** `gone 20 s ago, was behind for 22 s` */
export function goneWords({ at, behindSince }: GoneSidecarState, now: number): string {
  return `gone ${age((now - at) / 1000)} ago, was behind for ${age((at - behindSince) / 1000)}`;
}

/** `3 sidecars`, and what an operator should know of them */
export function sidecarCountWords({ total, behind, refusing, gone }: SidecarsState): string {
  return [counted(total, 'sidecar'), ...troubleWords({ behind, refusing, gone })].join(', ');
}

/** `1 behind`, `1 refuses`, `1 lost while behind` */
export function troubleWords({
  behind,
  refusing,
  gone,
}: Pick<SidecarsState, 'behind' | 'refusing' | 'gone'>): readonly string[] {
  return [
    ...(behind === 0 ? [] : [`${integer(behind)} behind`]),
    ...(refusing === 0 ? [] : [refusalWords(refusing)]),
    ...(gone.length === 0 ? [] : [`${integer(gone.length)} lost while behind`]),
  ];
}

/** `1 refuses`, `2 refuse` */
export function refusalWords(refusing: number): string {
  return `${integer(refusing)} ${refusing === 1 ? 'refuses' : 'refuse'}`;
}

/** `3 ads`, `eds` */
export function streamWords(streams: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of streams) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} ${name}`)).join(', ');
}

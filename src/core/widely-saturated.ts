import type { EndpointHealth } from './model/assignment.ts';

/** When it was so last; undefined: never. */
export interface WidelySaturated {
  /** At least half of the backends in the assignment. */
  readonly halfAtMs: number | undefined;
  readonly allAtMs: number | undefined;
}

export const NEVER_SATURATED: WidelySaturated = { halfAtMs: undefined, allAtMs: undefined };

/** A warning stays for so long, as backends come back and are marked again all the time while there is too much. */
const HELD_MS = 10_000;

export function observeSaturated(
  before: WidelySaturated,
  health: readonly EndpointHealth[],
  nowMs: number,
): WidelySaturated {
  const saturated = health.filter((of) => of === 'UNHEALTHY').length;
  return {
    halfAtMs: saturated > 0 && 2 * saturated >= health.length ? nowMs : before.halfAtMs,
    allAtMs: saturated > 0 && saturated === health.length ? nowMs : before.allAtMs,
  };
}

/** How much of the group is saturated, or was so within the last 10 s. */
export function saturatedPart(
  { halfAtMs, allAtMs }: WidelySaturated,
  nowMs: number,
): 'all' | 'half' | undefined {
  const holds = (atMs: number | undefined): boolean => atMs !== undefined && nowMs - atMs <= HELD_MS;
  if (holds(allAtMs)) return 'all';
  return holds(halfAtMs) ? 'half' : undefined;
}

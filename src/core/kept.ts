import { at } from './at.ts';
import type { Proposal } from './dither.ts';
import type { BackendMemory } from './memory.ts';
import type { EndpointHealth } from './model/assignment.ts';
import type { Roster } from './roster.ts';
import { slowStartLimit } from './slow-start.ts';

/** Whether a backend that still takes traffic has a published weight. */
export function keepsWeights(published: Proposal | undefined, { indexes, shares }: Roster): boolean {
  const takesTraffic = (index: number | undefined): boolean => index !== undefined && at(shares, index) > 0;
  return published?.backends.some(({ id }) => takesTraffic(indexes.get(id))) ?? false;
}

/**
 * The published weights once more, in roster order, for a group that nobody answers from. Another configured weight
 * counts at once. A backend that is not in the assignment yet begins as the average of those that are, slow start
 * included.
 * @param published has at least one backend that still takes traffic
 */
export function keptWeights(
  published: Proposal,
  roster: Roster,
  memories: readonly BackendMemory[],
  nowMs: number,
): Float64Array {
  const factors = new Float64Array(roster.backends.length);
  let sum = 0;
  let count = 0;
  for (const [position, { id, weight }] of published.backends.entries()) {
    const index = roster.indexes.get(id);
    if (index === undefined || at(roster.shares, index) === 0) continue;
    const factor = at(published.weights, position) / weight;
    factors[index] = factor;
    sum += factor;
    count++;
  }
  return roster.shares.map((share, index) => {
    const kept = at(factors, index);
    if (kept > 0) return share * kept;
    return ((share * sum) / count) * (slowStartLimit(at(memories, index).joinedAtMs, nowMs) ?? 1);
  });
}

/** The published health once more, in roster order; HEALTHY where there is none. */
export function keptHealths(
  published: Proposal | undefined,
  { backends }: Roster,
): readonly EndpointHealth[] {
  const healths = new Map(
    published?.backends.map(({ id }, position) => [id, at(published.health, position)]),
  );
  return backends.map(({ id }) => healths.get(id) ?? 'HEALTHY');
}

import { type Proposal, weightScale } from './dither.ts';
import type { BackendMemory } from './memory.ts';
import type { Assignment, Endpoint } from './model/assignment.ts';

/** One that comes back within this is the one that it was. */
export const RETURN_MS = 60_000;
/** All draining ones together stay below half of what Envoy can add up. */
const SUM = 1_000_000_000;

/** Takes note of when a backend began to drain; one that ends it after more than a minute has joined anew. */
export function noteDraining(before: BackendMemory, draining: boolean, nowMs: number): BackendMemory {
  const { drainingSinceMs } = before;
  if (draining) return drainingSinceMs === undefined ? { ...before, drainingSinceMs: nowMs } : before;
  if (drainingSinceMs === undefined) return before;
  const returns = nowMs - drainingSinceMs <= RETURN_MS;
  return { ...before, drainingSinceMs: undefined, joinedAtMs: returns ? before.joinedAtMs : nowMs };
}

/**
 * The endpoints of those that drain, in the order of the proposal. They keep the weight that sidecars have; one that has
 * none gets that of its configured weight.
 */
export function drainingEndpoints(
  { draining, backends }: Proposal,
  before: Assignment | undefined,
): readonly Endpoint[] {
  if (draining.length === 0) return [];
  const weights = new Map(
    before?.endpoints.map(({ address, port, weight }) => [`${address} ${port}`, weight]),
  );
  const serving = backends.length === 0 ? draining : backends;
  const mean = serving.reduce((sum, { weight }) => sum + weight, 0) / serving.length;
  const scale = weightScale(backends.length + draining.length);
  const most = Math.floor(SUM / draining.length);
  return draining.map(({ address, port, weight, zone }) => {
    const known = weights.get(`${address} ${port}`) ?? Math.round((scale * weight) / mean);
    const endpoint = {
      address,
      port,
      weight: Math.min(most, Math.max(1, known)),
      health: 'DRAINING',
    } as const;
    return zone === undefined ? endpoint : { ...endpoint, zone };
  });
}

import { at } from './at.ts';
import type { Capacities } from './capacity.ts';
import type { Freshness } from './freshness.ts';
import type { BackendMemory } from './memory.ts';
import type { GainBasis } from './model/basis.ts';
import type { EnvoyLbPolicy } from './model/server-group.ts';
import type { Roster } from './roster.ts';
import { slowStartLimit } from './slow-start.ts';

/** A sample of which less is left when its weights are in force is older than requests stay. */
const OUTLIVED = Math.exp(-1);
/** With shorter stays sidecars do better by their schedule, whatever the weights say, s. */
const LONG_STAY_SECONDS = 2;
/** So they do with fewer requests inside each backend. */
const MANY_INSIDE = 16;
/**
 * Logarithm of a learned capacity that chance alone may come to within a minute. Equal weights load the slower ones until it
 * shows: they stay until it is twice that, or they would come and go.
 */
const ALIKE = { begin: 0.1, end: 0.2 } as const;
/** A trust below this is no chance. */
const BELIEVED = 0.2;

export interface AlikeInput {
  readonly basis: GainBasis;
  readonly envoyLbPolicy: EnvoyLbPolicy;
  readonly prefersZones: boolean;
  readonly roster: Roster;
  readonly memories: readonly BackendMemory[];
  readonly freshness: Freshness;
  readonly capacities: Capacities;
  /** In roster order, 0..1. */
  readonly trusts: Float64Array;
  readonly nowMs: number;
  /** Sidecars have equal weights, or would have them if the group were not only observed. */
  readonly wereEqual: boolean;
  /** While a share is refused weights are shifted against each other at each change. */
  readonly refuses: boolean;
}

/**
 * Whether exactly equal weights are the better answer: what is known of the load is older than a request stays, requests
 * are many and stay long, and nothing else tells the backends apart. Only where all weights are equal does a sidecar take
 * the less busy one of two that it draws, which beats a schedule by weights that are noise.
 */
export function areAlikeForAllThatIsKnown(input: AlikeInput): boolean {
  const { basis, envoyLbPolicy, prefersZones, roster, memories, freshness, capacities, trusts, nowMs } =
    input;
  if (envoyLbPolicy !== 'LeastRequest' || prefersZones || input.refuses) return false;
  if (basis.remaining >= OUTLIVED || basis.staySeconds < LONG_STAY_SECONDS) return false;
  if (basis.meanInside < MANY_INSIDE) return false;
  const most = input.wereEqual ? ALIKE.end : ALIKE.begin;
  return memories.every(({ joinedAtMs, mark }, index) => {
    const share = at(roster.shares, index);
    const isOfNoAccount = share === 0;
    const isUsual =
      share === 1 &&
      at(freshness.uses, index) === 'fresh' &&
      slowStartLimit(joinedAtMs, nowMs) === undefined &&
      !mark.saturated &&
      at(trusts, index) >= BELIEVED;
    return isOfNoAccount || (isUsual && Math.abs(Math.log(at(capacities.products, index))) < most);
  });
}

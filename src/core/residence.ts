import { at } from './at.ts';
import type { BackendMemory } from './memory.ts';

/** How long a request stays with a backend, and the decaying sums that the estimate comes from. */
export interface Stay {
  /** R of the rule, 0.5..120 s. */
  readonly seconds: number;
  /** Request-seconds spent inside. */
  readonly inside: number;
  readonly finished: number;
  /** The engines' own end-to-end latency, s, and how many requests it is of. */
  readonly latencySum: number;
  readonly latencyCount: number;
}

export const INITIAL_STAY: Stay = { seconds: 8, inside: 0, finished: 0, latencySum: 0, latencyCount: 0 };

/** What one evaluation adds, over the backends that were fresh at this one and the one before. */
export interface StayObservation {
  /** Time since the previous evaluation, s. */
  readonly elapsedSeconds: number;
  /** Requests inside at this evaluation. */
  readonly inside: number;
  /** Requests finished since the previous one. */
  readonly finished: number;
  readonly latencySum: number;
  readonly latencyCount: number;
}

const MEMORY_SECONDS = 30;
const SHORTEST_SECONDS = 0.5;
const LONGEST_SECONDS = 120;
const REQUESTS_NEEDED = 5;

/**
 * Little's law over a decaying window. Cancelled requests are in `inside` and not in `finished`, which makes the
 * estimate too long, the dangerous side: the engines' own latency is used where it is shorter.
 */
export function observeStay(before: Stay, observed: StayObservation): Stay {
  const decay = Math.exp(-observed.elapsedSeconds / MEMORY_SECONDS);
  const inside = before.inside * decay + observed.inside * observed.elapsedSeconds;
  const finished = before.finished * decay + observed.finished;
  const latencySum = before.latencySum * decay + observed.latencySum;
  const latencyCount = before.latencyCount * decay + observed.latencyCount;
  // Before as many have finished as are inside, only the shortest requests have.
  const known = finished >= Math.max(REQUESTS_NEEDED, observed.inside);
  const latency = latencyCount >= REQUESTS_NEEDED ? latencySum / latencyCount : Number.POSITIVE_INFINITY;
  const seconds = known ? clampStay(Math.min(inside / finished, latency)) : before.seconds;
  return { seconds, inside, finished, latencySum, latencyCount };
}

/** Adds up what the group's backends did between two evaluations. Counters that fell have restarted and add nothing. */
export function stayObservation(
  before: readonly BackendMemory[],
  after: readonly BackendMemory[],
  shares: Float64Array,
  elapsedSeconds: number,
): StayObservation {
  const sum = { elapsedSeconds, inside: 0, finished: 0, latencySum: 0, latencyCount: 0 };
  for (let index = 0; index < after.length; index++) {
    const { sample, missed, frozen } = at(after, index);
    const past = at(before, index);
    if (missed > 0 || past.missed > 0 || frozen || at(shares, index) === 0) continue;
    if (sample?.finished === undefined || past.sample?.finished === undefined) continue;
    sum.inside += (sample.queued ?? 0) + (sample.running ?? 0);
    sum.finished += Math.max(0, sample.finished - past.sample.finished);
    if (sample.latency === undefined || past.sample.latency === undefined) continue;
    if (sample.latency.count < past.sample.latency.count) continue;
    sum.latencySum += Math.max(0, sample.latency.sumSeconds - past.sample.latency.sumSeconds);
    sum.latencyCount += sample.latency.count - past.sample.latency.count;
  }
  return sum;
}

function clampStay(seconds: number): number {
  return Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, seconds));
}

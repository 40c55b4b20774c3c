import { at } from './at.ts';
import type { BackendMemory } from './memory.ts';
import { insideOf, type Progress } from './progress.ts';

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

/** What one evaluation adds. */
export interface StayObservation {
  /** Time since the previous evaluation, s. */
  readonly elapsedSeconds: number;
  /**
   * Requests inside all backends that have the counter, by their last samples. What a silent one said last fades as the
   * sums do: silence neither makes few finished requests enough nor holds the estimate for ever.
   */
  readonly inside: number;
  /** How many backends the rest is of: those with a fresh sample, each over the time since its own previous one. */
  readonly compared: number;
  /** Request-seconds spent inside. */
  readonly insideSeconds: number;
  readonly finished: number;
  readonly latencySum: number;
  readonly latencyCount: number;
}

/** What the sums remember at least, and at most; between them twice the stay, or fewer would finish in it than are inside. */
const MEMORY_SECONDS = { least: 30, most: 240 } as const;
const SHORTEST_SECONDS = 0.5;
const LONGEST_SECONDS = 120;
const REQUESTS_NEEDED = 5;

/**
 * Little's law over a decaying window. Cancelled requests are in `inside` and not in `finished`, which makes the
 * estimate too long, the dangerous side: the engines' own latency is used where it is shorter.
 */
export function observeStay(before: Stay, observed: StayObservation): Stay {
  const decay = fading(before, observed.elapsedSeconds);
  const inside = before.inside * decay + observed.insideSeconds;
  const finished = before.finished * decay + observed.finished;
  const latencySum = before.latencySum * decay + observed.latencySum;
  const latencyCount = before.latencyCount * decay + observed.latencyCount;
  // Before as many have finished as are inside, only the shortest requests have.
  const known = observed.compared > 0 && finished >= Math.max(REQUESTS_NEEDED, observed.inside);
  const latency = latencyCount >= REQUESTS_NEEDED ? latencySum / latencyCount : Number.POSITIVE_INFINITY;
  const seconds = known ? clampStay(Math.min(inside / finished, latency)) : before.seconds;
  return { seconds, inside, finished, latencySum, latencyCount };
}

/**
 * Adds up what the group's backends did since the previous evaluation. A backend that missed collections is compared
 * with its sample of before, over all of that time; not over a silence so long that nothing of it stands any more, nor
 * when a counter fell, as the engine has restarted.
 */
export function stayObservation(
  progresses: readonly (Progress | undefined)[],
  after: readonly BackendMemory[],
  shares: Float64Array,
  before: Stay,
  { nowMs, elapsedSeconds }: { readonly nowMs: number; readonly elapsedSeconds: number },
): StayObservation {
  const sum = {
    elapsedSeconds,
    inside: 0,
    compared: 0,
    insideSeconds: 0,
    finished: 0,
    latencySum: 0,
    latencyCount: 0,
  };
  for (let index = 0; index < after.length; index++) {
    const { sample, sampledAtMs, missed, frozen } = at(after, index);
    if (sample?.finished === undefined || frozen || at(shares, index) === 0) continue;
    if (missed > 0) {
      sum.inside += insideOf(sample) * fading(before, (nowMs - sampledAtMs) / 1000);
      continue;
    }
    const progress = at(progresses, index);
    sum.inside += progress?.inside ?? insideOf(sample);
    if (progress === undefined) continue;
    sum.compared++;
    sum.insideSeconds += progress.seconds * progress.inside;
    sum.finished += progress.finished;
    sum.latencySum += progress.latencySum;
    sum.latencyCount += progress.latencyCount;
  }
  return sum;
}

/** What is left of something so old in the window. */
function fading({ inside, finished }: Stay, seconds: number): number {
  const { least, most } = MEMORY_SECONDS;
  const memory = finished < REQUESTS_NEEDED ? most : Math.min(most, Math.max(least, (2 * inside) / finished));
  return Math.exp(-seconds / memory);
}

function clampStay(seconds: number): number {
  return Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, seconds));
}

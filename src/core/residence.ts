import { at } from './at.ts';
import type { BackendMemory } from './memory.ts';
import type { Sample } from './model.ts';
import { isOutdated } from './outdated.ts';

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

const MEMORY_SECONDS = 30;
const SHORTEST_SECONDS = 0.5;
const LONGEST_SECONDS = 120;
const REQUESTS_NEEDED = 5;
const NEWCOMERS_PER_SECOND = 64;

/**
 * Little's law over a decaying window. Cancelled requests are in `inside` and not in `finished`, which makes the
 * estimate too long, the dangerous side: the engines' own latency is used where it is shorter.
 */
export function observeStay(before: Stay, observed: StayObservation): Stay {
  const decay = fading(observed.elapsedSeconds);
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
  before: readonly BackendMemory[],
  after: readonly BackendMemory[],
  shares: Float64Array,
  times: { readonly nowMs: number; readonly elapsedSeconds: number; readonly intervalSeconds: number },
): StayObservation {
  const { nowMs, elapsedSeconds, intervalSeconds } = times;
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
    const inside = insideOf(sample);
    if (missed > 0) {
      sum.inside += inside * fading((nowMs - sampledAtMs) / 1000);
      continue;
    }
    sum.inside += inside;
    const past = at(before, index);
    const silenceMs = sampledAtMs - past.sampledAtMs;
    if (past.sample?.finished === undefined || isOutdated(silenceMs, intervalSeconds)) continue;
    if (sample.finished < past.sample.finished) continue;
    const seconds = silenceMs / 1000;
    const insideBefore = insideOf(past.sample);
    sum.compared++;
    sum.insideSeconds += seconds * credibleInside(inside, insideBefore, seconds);
    sum.finished += Math.min(
      sample.finished - past.sample.finished,
      credibleFinished(Math.max(inside, insideBefore), seconds),
    );
    if (sample.latency === undefined || past.sample.latency === undefined) continue;
    if (sample.latency.count < past.sample.latency.count) continue;
    sum.latencySum += Math.max(0, sample.latency.sumSeconds - past.sample.latency.sumSeconds);
    sum.latencyCount += sample.latency.count - past.sample.latency.count;
  }
  return sum;
}

function insideOf({ queued, running }: Sample): number {
  return (queued ?? 0) + (running ?? 0);
}

/** One absurd gauge must not stand in the window for minutes: it counts as twice what was inside, and some newcomers. */
function credibleInside(inside: number, before: number, seconds: number): number {
  return Math.min(inside, 2 * before + NEWCOMERS_PER_SECOND * Math.max(1, seconds));
}

/** Nor a counter that fell and came back, as when a series was missing from one page: no stay is counted as shorter. */
function credibleFinished(inside: number, seconds: number): number {
  return ((inside + 1) * seconds) / SHORTEST_SECONDS;
}

/** What is left of something so old in the window. */
function fading(seconds: number): number {
  return Math.exp(-seconds / MEMORY_SECONDS);
}

function clampStay(seconds: number): number {
  return Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, seconds));
}

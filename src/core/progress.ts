import { at } from './at.ts';
import { type BackendMemory, isFresh } from './memory.ts';
import type { Sample } from './model/collection.ts';
import { isOutdated } from './outdated.ts';

/** What a backend did between its sample of this run and the one before. */
export interface Progress {
  /** The time between the two, whatever number of collections failed in it, s. */
  readonly seconds: number;
  /** Requests inside, by the later sample. */
  readonly inside: number;
  readonly finished: number;
  /** The same where requests may be as short as 0.05 s: what a backend can do at most. */
  readonly mostFinished: number;
  /**
   * Request-seconds spent running, by the mean of both samples; undefined: next to nothing ran at one of them, so that
   * what finished says nothing of how long it takes, or the engine has no such gauge.
   */
  readonly runningSeconds: number | undefined;
  /** The same, however few ran at either; undefined: the engine has no such gauge. */
  readonly ranSeconds: number | undefined;
  /** The engine's own end-to-end latency, s, and how many requests it is of. */
  readonly latencySum: number;
  readonly latencyCount: number;
  /** Requests that came, less those that were cancelled; at least 0. */
  readonly arrived: number;
}

const NEWCOMERS_PER_SECOND = 64;
/** No engine holds as many: keeps every sum finite, whatever the gauges say. */
const MOST_INSIDE = 1_000_000;
/** Beside the typical backend one holds at most so many times as much by its share, and some more. */
const MOST_TIMES_TYPICAL = 4;
const MOST_BESIDE = 16;
/** No request is counted as shorter, s: for how long they stay, and for how fast they are served. */
const SHORTEST_SECONDS = 0.5;
/** For how many a backend can serve. */
const SHORTEST_SERVED_SECONDS = 0.05;
/** The engine's own latency is of at most so many requests for each that finished. */
const MOST_LATENCIES = 2;

/**
 * Of all backends, in roster order, where a gauge that is absurd beside those of the others counts as what is credible:
 * sums over a minute would show it for minutes.
 * @returns undefined for one without a new sample, and where {@link progressOf} is
 */
export function progressesOf(
  past: readonly BackendMemory[],
  present: readonly BackendMemory[],
  shares: Float64Array,
  intervalSeconds: number,
): readonly (Progress | undefined)[] {
  const mostInside = typicalOf(past, present, shares);
  return present.map((memory, index) => {
    if (!isFresh(memory)) return undefined;
    return progressOf(at(past, index), memory, intervalSeconds, mostInside(index));
  });
}

/** The most requests that are credible of a backend, by its place: a few times the median of the others. */
function typicalOf(
  past: readonly BackendMemory[],
  present: readonly BackendMemory[],
  shares: Float64Array,
): (index: number) => number {
  const perShare = new Float64Array(shares.length).fill(Number.NaN);
  const sorted = new Float64Array(shares.length);
  let count = 0;
  for (let index = 0; index < shares.length; index++) {
    const memory = at(present, index);
    const { sample } = memory;
    if (at(shares, index) === 0 || sample === undefined || !isFresh(memory)) continue;
    const inside = Math.max(insideOf(sample), insideOf(at(past, index).sample ?? sample));
    perShare[index] = inside / at(shares, index);
    sorted[count++] = at(perShare, index);
  }
  const known = sorted.subarray(0, count).sort();
  const middle = (known.length - 2) >> 1;
  return (index) => {
    const own = at(perShare, index);
    if (known.length < 2 || Number.isNaN(own)) return MOST_INSIDE;
    const typical = at(known, own <= at(known, middle) ? middle + 1 : middle);
    return MOST_TIMES_TYPICAL * typical * at(shares, index) + MOST_BESIDE;
  };
}

/**
 * @param before as of the previous evaluation
 * @param after has a fresh sample
 * @param mostInside the most requests that are credible
 * @returns undefined: there is nothing to compare. The engine has no counter of finished requests, has restarted (the
 *   counter fell), or was silent for so long that nothing of its last sample stands any more.
 */
export function progressOf(
  before: BackendMemory,
  after: BackendMemory,
  intervalSeconds: number,
  mostInside = MOST_INSIDE,
): Progress | undefined {
  const past = before.sample;
  const { sample } = after;
  const silenceMs = after.sampledAtMs - before.sampledAtMs;
  if (sample?.finished === undefined || past?.finished === undefined) return undefined;
  if (sample.finished < past.finished || isOutdated(silenceMs, intervalSeconds)) return undefined;
  const seconds = silenceMs / 1000;
  const inside = insideOf(sample);
  const insideBefore = insideOf(past);
  const finished = sample.finished - past.finished;
  const most = credibleFinished(Math.max(inside, insideBefore), seconds);
  const credible = credibleInside(inside, insideBefore, seconds, mostInside);
  const credibleFinish = Math.min(finished, most / SHORTEST_SECONDS);
  const mostFinished = Math.min(finished, most / SHORTEST_SERVED_SECONDS);
  const latency = latencyBetween(past, sample, mostFinished);
  const ranSeconds = runningBetween(past.running, sample.running, seconds, mostInside);
  // a queue that is served looks like requests that come if only the gauge of before is bounded
  const rise =
    inside < insideBefore
      ? inside - insideBefore
      : credible - credibleInside(insideBefore, inside, seconds, mostInside);
  return {
    seconds,
    inside: credible,
    finished: credibleFinish,
    arrived: Math.max(0, rise + credibleFinish),
    mostFinished,
    runningSeconds: Math.min(past.running ?? 0, sample.running ?? 0) < 1 ? undefined : ranSeconds,
    ranSeconds,
    latencySum: latency.sumSeconds,
    latencyCount: latency.count,
  };
}

/** Whether no collection between the two samples failed. */
export function isOfOneRun({ seconds }: Progress, intervalSeconds: number): boolean {
  return seconds < 1.5 * intervalSeconds;
}

/** Queued and running. */
export function insideOf({ queued, running }: Sample): number {
  return (queued ?? 0) + (running ?? 0);
}

function runningBetween(
  before: number | undefined,
  running: number | undefined,
  seconds: number,
  most: number,
): number | undefined {
  if (before === undefined || running === undefined) return undefined;
  const sum = credibleInside(running, before, seconds, most) + credibleInside(before, running, seconds, most);
  return (seconds * sum) / 2;
}

/**
 * Nothing where the engine has no such metric, or its counter fell; nor where more were added than can have finished: they
 * are of other requests, or of a counter that fell and came back.
 */
function latencyBetween(
  { latency: past }: Sample,
  { latency }: Sample,
  mostFinished: number,
): NonNullable<Sample['latency']> {
  const none = { sumSeconds: 0, count: 0 };
  if (past === undefined || latency === undefined) return none;
  const count = latency.count - past.count;
  if (count < 0 || count > MOST_LATENCIES * mostFinished) return none;
  return { sumSeconds: Math.max(0, latency.sumSeconds - past.sumSeconds), count };
}

/** One absurd gauge must not stand in a window for minutes: it counts as twice what the other was, and some newcomers. */
function credibleInside(inside: number, other: number, seconds: number, most: number): number {
  return Math.min(inside, 2 * other + NEWCOMERS_PER_SECOND * Math.max(1, seconds), most, MOST_INSIDE);
}

/** Nor a counter that fell and came back, as when a series was missing from one page. In requests of a second. */
function credibleFinished(inside: number, seconds: number): number {
  return (Math.min(inside, MOST_INSIDE) + 1) * seconds;
}

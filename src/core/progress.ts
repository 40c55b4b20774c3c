import type { BackendMemory } from './memory.ts';
import type { Sample } from './model.ts';
import { isOutdated } from './outdated.ts';

/** What a backend did between its sample of this run and the one before. */
export interface Progress {
  /** The time between the two, whatever number of collections failed in it, s. */
  readonly seconds: number;
  /** Requests inside, by the later sample. */
  readonly inside: number;
  readonly finished: number;
  /** The same where requests may be shorter than half a second: what a backend can do at most. */
  readonly mostFinished: number;
  /**
   * Request-seconds spent running, by the mean of both samples; undefined: next to nothing ran at one of them, so that
   * what finished says nothing of how long it takes, or the engine has no such gauge.
   */
  readonly runningSeconds: number | undefined;
  /** The engine's own end-to-end latency, s, and how many requests it is of. */
  readonly latencySum: number;
  readonly latencyCount: number;
  /** Requests that came, less those that were cancelled; at least 0. */
  readonly arrived: number;
}

const NEWCOMERS_PER_SECOND = 64;
/** No engine holds as many: keeps every sum finite, whatever the gauges say. */
const MOST_INSIDE = 1_000_000;
/** No request is counted as shorter, s: for how long they stay, and for how fast they are served. */
const SHORTEST_SECONDS = 0.5;
/** For how many a backend can serve. */
const SHORTEST_SERVED_SECONDS = 0.05;

/**
 * @param before as of the previous evaluation
 * @param after has a fresh sample
 * @returns undefined: there is nothing to compare. The engine has no counter of finished requests, has restarted (the
 *   counter fell), or was silent for so long that nothing of its last sample stands any more.
 */
export function progressOf(
  before: BackendMemory,
  after: BackendMemory,
  intervalSeconds: number,
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
  const credible = credibleInside(inside, insideBefore, seconds);
  const credibleFinish = Math.min(finished, most / SHORTEST_SECONDS);
  return {
    seconds,
    inside: credible,
    finished: credibleFinish,
    arrived: Math.max(0, credible - credibleInside(insideBefore, inside, seconds) + credibleFinish),
    mostFinished: Math.min(finished, most / SHORTEST_SERVED_SECONDS),
    runningSeconds: runningBetween(past.running, sample.running, seconds),
    ...latencyBetween(past, sample),
  };
}

/** Queued and running. */
export function insideOf({ queued, running }: Sample): number {
  return (queued ?? 0) + (running ?? 0);
}

function runningBetween(
  before: number | undefined,
  running: number | undefined,
  seconds: number,
): number | undefined {
  if (before === undefined || running === undefined || before < 1 || running < 1) return undefined;
  const sum = credibleInside(running, before, seconds) + credibleInside(before, running, seconds);
  return (seconds * sum) / 2;
}

/** Nothing where the engine has no such metric, or its counter fell. */
function latencyBetween(
  { latency: past }: Sample,
  { latency }: Sample,
): Pick<Progress, 'latencySum' | 'latencyCount'> {
  if (past === undefined || latency === undefined || latency.count < past.count) {
    return { latencySum: 0, latencyCount: 0 };
  }
  return {
    latencySum: Math.max(0, latency.sumSeconds - past.sumSeconds),
    latencyCount: latency.count - past.count,
  };
}

/** One absurd gauge must not stand in a window for minutes: it counts as twice what the other was, and some newcomers. */
function credibleInside(inside: number, other: number, seconds: number): number {
  return Math.min(inside, 2 * other + NEWCOMERS_PER_SECOND * Math.max(1, seconds), MOST_INSIDE);
}

/** Nor a counter that fell and came back, as when a series was missing from one page. In requests of a second. */
function credibleFinished(inside: number, seconds: number): number {
  return (Math.min(inside, MOST_INSIDE) + 1) * seconds;
}

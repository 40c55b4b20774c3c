import { at } from './at.ts';
import type { BackendMemory } from './memory.ts';
import type { SpeedBasis } from './model/basis.ts';
import type { Progress } from './progress.ts';

/** What the backends got done of late, in roster order: sums that fade, over the same runs. */
export interface Paces {
  readonly finished: Float64Array;
  /** Request-seconds spent running. */
  readonly runningSeconds: Float64Array;
}

/** How fast each backend serves what it runs, against the others. */
export interface Speeds {
  /** In roster order, 0.2..3; 1 for those that are not compared. */
  readonly values: Float64Array;
  /** In roster order: 1 for those that are. */
  readonly compared: Float64Array;
  /** undefined: too little has finished, or the engines have no counter; nobody is compared. */
  readonly basis: SpeedBasis | undefined;
}

const LEAST = 0.2;
const MOST = 3;
/** Finished requests that every backend is credited with, at the mean speed. */
const PRIOR_REQUESTS = 20;
/** Finished requests needed for each backend, on average. */
const REQUESTS_NEEDED = 5;

export function initialPaces(size: number): Paces {
  return { finished: new Float64Array(size), runningSeconds: new Float64Array(size) };
}

/**
 * Adds what the backends did between their last two samples. Runs in which a backend is idle do not count: an engine
 * that fails every request at once, and counts it as finished, would be the fastest of all.
 * @param progresses in roster order
 * @param counts whether this backend has a fresh sample, is not frozen, and is past slow start
 */
export function observePaces(
  paces: Paces,
  progresses: readonly (Progress | undefined)[],
  counts: (index: number) => boolean,
  { elapsedSeconds, intervalSeconds }: { readonly elapsedSeconds: number; readonly intervalSeconds: number },
): Paces {
  const kept = Math.exp(-elapsedSeconds / Math.max(60, 6 * intervalSeconds));
  const finished = paces.finished.map((sum) => sum * kept);
  const runningSeconds = paces.runningSeconds.map((sum) => sum * kept);
  for (let index = 0; index < progresses.length; index++) {
    const progress = at(progresses, index);
    if (progress?.runningSeconds === undefined || !counts(index)) continue;
    finished[index] = at(finished, index) + progress.finished;
    runningSeconds[index] = at(runningSeconds, index) + progress.runningSeconds;
  }
  return { finished, runningSeconds };
}

/** Whether a backend can be compared: it takes traffic, and its engine has the counter and the gauge. */
function hasPace({ sample }: BackendMemory, share: number): boolean {
  return share > 0 && sample?.finished !== undefined && sample.running !== undefined;
}

/**
 * Requests finished over those that the same running ones would have come to at the speed of all. A learned deviation
 * cannot tell it: the weights that follow the load hide the difference that they answer to. What chance alone would
 * make of so few requests is taken off the differences, so that equal backends stay equal.
 * @param doubted 1: a backend whose gauges are not believed; it is not compared where they make it faster than all
 */
export function speedsOf(
  paces: Paces,
  memories: readonly BackendMemory[],
  shares: Float64Array,
  doubted: Float64Array,
): Speeds {
  const { finished, runningSeconds } = paces;
  const values = new Float64Array(shares.length).fill(1);
  const measured = indexesOf(shares, (index) => hasPace(at(memories, index), at(shares, index)));
  const compared = withoutFast(measured, paces, doubted);
  const isCompared = new Float64Array(shares.length);
  for (const index of compared) isCompared[index] = 1;
  const allFinished = sumOf(compared, (index) => at(finished, index));
  if (!(allFinished > REQUESTS_NEEDED * compared.length))
    return { values, compared: isCompared, basis: undefined };
  const allRunningSeconds = sumOf(compared, (index) => at(runningSeconds, index));
  const secondsPerRequest = allRunningSeconds / allFinished;
  for (const index of compared) {
    const expected = at(runningSeconds, index) / secondsPerRequest;
    values[index] = Math.log((at(finished, index) + PRIOR_REQUESTS) / (expected + PRIOR_REQUESTS));
  }
  const typical = meanOf(compared, (index) => at(values, index));
  const exponent = exponentOf(compared, values, typical, finished);
  for (const index of compared) values[index] = Math.exp(exponent * (at(values, index) - typical));
  const meanPower = meanOf(compared, (index) => at(values, index));
  for (const index of compared) values[index] = clamp(at(values, index) / meanPower);
  const basis = {
    backends: compared.length,
    finished: allFinished,
    runningSeconds: allRunningSeconds,
    secondsPerRequest,
    typical: Math.exp(typical),
    exponent,
    meanPower,
  };
  return { values, compared: isCompared, basis };
}

/** Without those that are doubted and, as it seems, faster than all together. */
function withoutFast(
  indexes: readonly number[],
  { finished, runningSeconds }: Paces,
  doubted: Float64Array,
): readonly number[] {
  if (!indexes.some((index) => at(doubted, index) === 1)) return indexes;
  const perSecond =
    sumOf(indexes, (index) => at(finished, index)) / sumOf(indexes, (index) => at(runningSeconds, index));
  const isFast = (index: number): boolean => at(finished, index) > perSecond * at(runningSeconds, index);
  return indexes.filter((index) => at(doubted, index) === 0 || !isFast(index));
}

/** The part of the spread of these logarithms that chance does not explain, 0..1: counts vary as much as they are. */
function exponentOf(
  compared: readonly number[],
  logs: Float64Array,
  typical: number,
  finished: Float64Array,
): number {
  const spread = meanOf(compared, (index) => (at(logs, index) - typical) ** 2);
  const byChance = meanOf(compared, (index) => 2 / (at(finished, index) + PRIOR_REQUESTS));
  return Math.max(0, 1 - byChance / spread);
}

function indexesOf(shares: Float64Array, includes: (index: number) => boolean): readonly number[] {
  const indexes: number[] = [];
  for (let index = 0; index < shares.length; index++) if (includes(index)) indexes.push(index);
  return indexes;
}

function sumOf(indexes: readonly number[], of: (index: number) => number): number {
  let sum = 0;
  for (const index of indexes) sum += of(index);
  return sum;
}

function meanOf(indexes: readonly number[], of: (index: number) => number): number {
  return sumOf(indexes, of) / indexes.length;
}

function clamp(speed: number): number {
  return Math.min(MOST, Math.max(LEAST, speed));
}

import { at } from './at.ts';
import type { SharesSeen } from './lag.ts';
import type { BackendMemory } from './memory.ts';
import type { Intake } from './model/basis.ts';
import { isOfOneRun, type Progress } from './progress.ts';
import type { Zones } from './zones.ts';

/**
 * How far the backends' gauges are believed, in roster order, and the sums that tell it: what they took of late beside
 * what their shares brought.
 */
export interface Trust {
  /** 0: what a backend's gauges show below the mean counts for nothing; 1: all of it. */
  readonly values: Float64Array;
  /** 1: it has fallen below 0.2 and not been above 0.6 since. */
  readonly doubted: Float64Array;
  /** Requests that came, by a backend's own metrics. */
  readonly arrived: Float64Array;
  /** Its part by the published shares of the requests that came to all, or to its zone where zones keep theirs. */
  readonly brought: Float64Array;
  readonly finished: Float64Array;
  /** Request-seconds spent running, runs in which a backend is idle included. */
  readonly runningSeconds: Float64Array;
  /** The engine's own end-to-end latency, s, and how many requests it is of. */
  readonly latencySum: Float64Array;
  readonly latencyCount: Float64Array;
}

/** Parts of the expected requests: a backend to which fewer come is not believed at all, one to which more come is. */
const PACE = { none: 0.5, full: 0.8 };
/** The same for parts of the time that others run for as many requests: a server may be several times as fast. */
const RUNNING = { none: 0.1, full: 0.15 };
/** Requests that every backend is credited with, just as expected: chance alone makes no liars. */
const PRIOR_ARRIVED = 10;
/** The same for those that run, each for a part of the time of the others that is believed just so. */
const PRIOR_FINISHED = 10;
const PRIOR_RUNNING = 0.2;
/** So many requests tell an engine's latency. */
const LATENCY_REQUESTS = 10;
/** By its latency a server is at most so many times as fast as the others: one that fails every request at once is no server. */
const FASTEST = 30;
/** A request that runs for less than so many intervals may be in no sample: as many must be due in one. */
const SEEN_INTERVALS = 2;
/** How many requests of each backend, on average, the sums are of, as far as times allow. */
const MEMORY_REQUESTS = 60;
const SHORTEST_MEMORY_SECONDS = 60;
const SHORTEST_MEMORY_RUNS = 4;
const LONGEST_MEMORY_SECONDS = 200;
const DOUBTED_BELOW = 0.2;
const BELIEVED_ABOVE = 0.6;

export function initialTrust(size: number): Trust {
  return {
    values: new Float64Array(size).fill(1),
    doubted: new Float64Array(size),
    arrived: new Float64Array(size),
    brought: new Float64Array(size),
    finished: new Float64Array(size),
    runningSeconds: new Float64Array(size),
    latencySum: new Float64Array(size),
    latencyCount: new Float64Array(size),
  };
}

export interface TrustObservation {
  /** In roster order. */
  readonly progresses: readonly (Progress | undefined)[];
  /** Whether its sample is fresh, and neither frozen nor above its mark: what comes then is what its share brings. */
  readonly counts: (index: number) => boolean;
  /** What sidecars had when the requests came; undefined: not known, or other requests come by other shares. */
  readonly shares: SharesSeen | undefined;
  /** Those that keep their requests: within each these go by the shares, between them as they come. */
  readonly zones: Zones | undefined;
  readonly elapsedSeconds: number;
  readonly intervalSeconds: number;
}

/**
 * Adds what came between the last two samples, and compares each backend with the others, as far as these are believed:
 * how many requests a share brings, and how long they run.
 */
export function observeTrust(before: Trust, observed: TrustObservation): Trust {
  const sums = addRun(before, observed);
  const standard = standardOf({ ...before, ...sums }, observed.zones);
  const values = before.values.map((_, index) => trustOf(sums, index, standard, observed.intervalSeconds));
  return { ...sums, values, doubted: doubtedOf(before.doubted, values) };
}

/** What the others, as far as they are believed, make expect of a backend, by its place; NaN: nothing to go by. */
interface Standard {
  /** Requests that its share brings. */
  readonly expected: (index: number) => number;
  /** Requests that came to the others, which this is known from. */
  readonly arrived: (index: number) => number;
  /** Requests that the others finished, which the next is known from. */
  readonly finished: (index: number) => number;
  /** Running seconds for each finished request. */
  readonly secondsPerRequest: (index: number) => number;
}

function trustOf(sums: Sums, index: number, standard: Standard, intervalSeconds: number): number {
  const expected = standard.expected(index);
  const seconds = secondsOf(sums, index, standard);
  // as many times more as there are fewer that this is known from
  const arrived = PRIOR_ARRIVED * Math.max(1, expected / standard.arrived(index));
  const pace = (at(sums.arrived, index) + arrived) / (expected + arrived);
  const ran = at(sums.finished, index);
  const finished = PRIOR_FINISHED * Math.max(1, ran / standard.finished(index));
  const credited = finished * Math.max(seconds, SEEN_INTERVALS * intervalSeconds);
  const running = (at(sums.runningSeconds, index) + PRIOR_RUNNING * credited) / (ran * seconds + credited);
  return Math.min(within(PACE, pace), within(RUNNING, running));
}

/**
 * How long a request of it should run: as those of the others, or as its engine's own latency says where that is less, as
 * of a fast server or of short requests. NaN: nothing to go by.
 */
function secondsOf({ latencySum, latencyCount }: Sums, index: number, standard: Standard): number {
  const others = standard.secondsPerRequest(index);
  if (at(latencyCount, index) < LATENCY_REQUESTS) return others;
  const own = at(latencySum, index) / at(latencyCount, index);
  return Number.isFinite(own) ? Math.min(others, Math.max(own, others / FASTEST)) : others;
}

/** 0..1; 1 where there is nothing to go by. */
function within({ none, full }: typeof PACE, ratio: number): number {
  return Number.isNaN(ratio) ? 1 : Math.min(1, Math.max(0, (ratio - none) / (full - none)));
}

function doubtedOf(before: Float64Array, values: Float64Array): Float64Array {
  const isDoubted = (was: number, index: number): boolean =>
    at(values, index) < (was === 1 ? BELIEVED_ABOVE : DOUBTED_BELOW);
  const isSame = before.every((was, index) => isDoubted(was, index) === (was === 1));
  return isSame ? before : before.map((was, index) => Number(isDoubted(was, index)));
}

/** Backends that requests go to by their shares are in one place: all of them, or those of a zone and those of none. */
function placesOf(zones: Zones | undefined): { places: number; placeOf: (index: number) => number } {
  if (zones === undefined) return { places: 1, placeOf: () => 0 };
  return { places: 1 + zones.names.length, placeOf: (index) => 1 + at(zones.places, index) };
}

type Sums = Omit<Trust, 'values' | 'doubted'>;

function addRun(before: Trust, observed: TrustObservation): Sums {
  const { progresses, counts, shares, zones, elapsedSeconds, intervalSeconds } = observed;
  const size = progresses.length;
  const arrived = new Float64Array(size);
  const brought = new Float64Array(size);
  const finished = new Float64Array(size);
  const runningSeconds = new Float64Array(size);
  const latencySum = new Float64Array(size);
  const latencyCount = new Float64Array(size);
  const { placeOf, places } = placesOf(zones);
  const came = new Float64Array(places);
  const sent = new Float64Array(places);
  let [known, total] = [0, 0];
  for (let index = 0; index < size; index++) {
    const of = at(progresses, index);
    if (of?.ranSeconds === undefined || !isOfOneRun(of, intervalSeconds) || !counts(index)) continue;
    const requests = mostArrived(of);
    known++;
    total += requests;
    if (shares !== undefined) {
      arrived[index] = requests;
      brought[index] = at(shares.published, index) === 0 ? 0 : at(shares.computed, index);
      const place = placeOf(index);
      came[place] = at(came, place) + requests;
      sent[place] = at(sent, place) + at(brought, index);
    }
    finished[index] = of.mostFinished;
    runningSeconds[index] = of.ranSeconds;
    latencySum[index] = of.latencySum;
    latencyCount[index] = of.latencyCount;
  }
  const kept = keptOf(known === 0 ? 0 : total / known, elapsedSeconds, intervalSeconds);
  const perShare = came.map((requests, place) => (at(sent, place) === 0 ? 0 : requests / at(sent, place)));
  for (let index = 0; index < size; index++) {
    arrived[index] = at(arrived, index) + kept * at(before.arrived, index);
    brought[index] = at(perShare, placeOf(index)) * at(brought, index) + kept * at(before.brought, index);
    finished[index] = at(finished, index) + kept * at(before.finished, index);
    runningSeconds[index] = at(runningSeconds, index) + kept * at(before.runningSeconds, index);
    latencySum[index] = at(latencySum, index) + kept * at(before.latencySum, index);
    latencyCount[index] = at(latencyCount, index) + kept * at(before.latencyCount, index);
  }
  return { arrived, brought, finished, runningSeconds, latencySum, latencyCount };
}

/**
 * What is left of the sums, 0..1.
 * @param requests that came to each backend on average
 */
function keptOf(requests: number, elapsedSeconds: number, intervalSeconds: number): number {
  const shortest = Math.max(SHORTEST_MEMORY_SECONDS, SHORTEST_MEMORY_RUNS * intervalSeconds);
  const [least, most] = [elapsedSeconds / LONGEST_MEMORY_SECONDS, elapsedSeconds / shortest];
  return Math.exp(-Math.min(most, Math.max(least, requests / MEMORY_REQUESTS)));
}

/** Counted as a backend can serve at most: a short stay is no reason to count fewer. */
function mostArrived({ arrived, finished, mostFinished }: Progress): number {
  return arrived + mostFinished - finished;
}

function standardOf(trust: Trust, zones: Zones | undefined): Standard {
  const { values, brought, finished, runningSeconds } = trust;
  const believed = (sum: Float64Array, index: number): number => at(values, index) * at(sum, index);
  // what the gauges rise by may be made up: what finished keeps that within bounds
  const credible = (index: number): number =>
    at(values, index) * Math.min(at(trust.arrived, index), at(finished, index));
  const { placeOf, places } = placesOf(zones);
  const came = new Float64Array(places);
  const shares = new Float64Array(places);
  let [seconds, requests] = [0, 0];
  for (let index = 0; index < values.length; index++) {
    const place = placeOf(index);
    came[place] = at(came, place) + credible(index);
    shares[place] = at(shares, place) + believed(brought, index);
    seconds += believed(runningSeconds, index);
    requests += believed(finished, index);
  }
  const arrived = (index: number): number => at(came, placeOf(index)) - credible(index);
  const finishedBeside = (index: number): number => requests - believed(finished, index);
  return {
    arrived,
    finished: finishedBeside,
    expected: (index) =>
      at(brought, index) * over(arrived(index), at(shares, placeOf(index)) - believed(brought, index)),
    secondsPerRequest: (index) => over(seconds - believed(runningSeconds, index), finishedBeside(index)),
  };
}

/** Of sums from which one part was taken off: what rounding leaves of it is nothing to go by. */
function over(sum: number, requests: number): number {
  return requests > 1e-6 ? Math.max(0, sum) / requests : Number.NaN;
}

/** Whether the engine has the metrics that tell what it takes. */
export function isMeasured({ sample }: BackendMemory): boolean {
  return sample?.finished !== undefined && sample.running !== undefined;
}

/** What each backend took, by its place in the roster. */
export function intakesOf(trust: Trust, zones: Zones | undefined): (index: number) => Intake {
  const standard = standardOf(trust, zones);
  return (index) => ({
    trust: at(trust.values, index),
    arrived: at(trust.arrived, index),
    expected: standard.expected(index),
    finished: at(trust.finished, index),
    runningSeconds: at(trust.runningSeconds, index),
    secondsPerRequest: secondsOf(trust, index, standard),
  });
}

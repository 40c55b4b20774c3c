import type { FaultRecord } from './conductor.ts';
import type { Resident, Sample } from './sampler.ts';
import { byWindow, least, leastSquares, type Line, middle, type Point } from './trend.ts';

/** What is judged of a soak. */
export interface Measured {
  readonly samples: readonly Sample[];
  /** Each second. */
  readonly resident: readonly Resident[];
  /** Failed requests that no fault had claimed. */
  readonly ours: number;
  /** Open files of the control plane at rest, before the faults and after them; null: it did not say. */
  readonly filesBefore: number | null;
  readonly filesAfter: number | null;
  readonly faults: ReadonlyMap<string, FaultRecord>;
  /** What was not as before at the end, in words. */
  readonly unsettled: readonly string[];
}

/** The slope of a figure of memory. */
export interface Growth {
  /** Bytes per second; undefined: there are too few windows. */
  readonly line: Line | undefined;
  readonly windows: readonly Point[];
}

export interface Verdict {
  readonly heap: Growth;
  /** Of the heap, code that V8 has made: told, not judged. */
  readonly code: Growth;
  /** Of resident memory what it never falls below. */
  readonly rss: Growth;
  /** Resident memory as it mostly is, with garbage that has not been collected. */
  readonly usualRss: Growth;
  /** Seconds that the process had lived when memory began to count. */
  readonly warmSeconds: number;
  /** Seconds over which memory was watched, in one process. */
  readonly watchedSeconds: number;
  /** Whether that is long enough to judge a slope. */
  readonly judged: boolean;
  /** Why the soak failed; none: it did not. */
  readonly broken: readonly string[];
}

const WINDOWS = 16;
const SHORTEST_WINDOW_SECONDS = 60;
/**
 * Of the life of a process memory does not count in the first part, and at least so many seconds: until then the course that
 * the page shows, of 15 minutes, fills up, and code is compiled. Of a life too short for that and what is judged it is a
 * quarter.
 */
const WARM = { part: 1 / 3, leastSeconds: 1_080 } as const;
/** Over less, noise is larger than what is asked for. */
const JUDGED_SECONDS = 1_800;
/** MB an hour. */
const MOST_GROWTH = 1;
/** Files that may be open after the faults beyond those before: connections that are just being replaced. */
const MOST_MORE_FILES = 8;

/**
 * Memory counts in the process of the control plane that lived longest, after its warm-up: one that is started anew begins
 * anew. It is cut into windows of time, and of each the least counts, so that what a fault, a burst or garbage held for a
 * moment has no part in it: of resident memory that is a fifth at times, as V8 lets go of it when it pleases. Of that the
 * middle of each window counts, too.
 */
export function judge(measured: Measured): Verdict {
  const life = longestProcess(measured.samples);
  const livedSeconds = spanOf(life);
  const warmSeconds =
    livedSeconds < WARM.leastSeconds + JUDGED_SECONDS
      ? livedSeconds / 4
      : Math.max(WARM.leastSeconds, WARM.part * livedSeconds);
  const warmUntil = (life[0]?.seconds ?? 0) + warmSeconds;
  const warm = life.filter(({ seconds }) => seconds >= warmUntil);
  const resident = measured.resident.filter(
    ({ seconds, generation }) => generation === life[0]?.generation && seconds >= warmUntil,
  );
  const watchedSeconds = spanOf(warm);
  const window = Math.max(SHORTEST_WINDOW_SECONDS, watchedSeconds / WINDOWS);
  const heap = growthOf(pointsOf(warm, 'heapAfter'), window, least);
  const code = growthOf(pointsOf(warm, 'codeAfter'), window, least);
  const rss = growthOf(resident, window, least);
  const usualRss = growthOf(resident, window, middle);
  const judged = watchedSeconds >= JUDGED_SECONDS;
  const broken: string[] = [];
  if (judged) {
    broken.push(...growing('heap', heap), ...growing('resident memory', rss));
    broken.push(...growing('resident memory with its garbage', usualRss));
  }
  if (measured.ours > 0) broken.push(`${measured.ours} requests failed, and no fault had claimed them`);
  const { filesBefore, filesAfter } = measured;
  if (filesBefore === null || filesAfter === null)
    broken.push('the control plane did not say how many files are open');
  else if (filesAfter > filesBefore + MOST_MORE_FILES)
    broken.push(`${filesAfter} files are open at rest after the faults, ${filesBefore} were before`);
  for (const [name, { errors, backSeconds }] of measured.faults) {
    if (errors.length > 0) broken.push(`${name}: could not be played: ${errors.join('; ')}`);
    if (backSeconds === Infinity) broken.push(`${name}: weights did not follow the load again`);
  }
  return {
    heap,
    code,
    rss,
    usualRss,
    warmSeconds,
    watchedSeconds,
    judged,
    broken: [...broken, ...measured.unsettled],
  };
}

/** Megabytes (10⁶ bytes) an hour; NaN: unknown. */
export function perHour({ line }: Growth): number {
  return line === undefined ? Number.NaN : (line.slope * 3600) / 1e6;
}

/** Of its slope, in the same unit. */
export function errorPerHour({ line }: Growth): number {
  return line === undefined ? Number.NaN : (line.standardError * 3600) / 1e6;
}

function growing(what: string, growth: Growth): readonly string[] {
  const slope = perHour(growth);
  if (Number.isNaN(slope)) return [`${what}: nothing was measured`];
  return slope < MOST_GROWTH
    ? []
    : [`${what} grows by ${slope.toFixed(2)} MB an hour, the limit is ${MOST_GROWTH}`];
}

function growthOf(
  points: readonly Point[],
  windowSeconds: number,
  pick: (values: readonly number[]) => number,
): Growth {
  const windows = byWindow(points, windowSeconds, pick);
  return { windows, line: leastSquares(windows) };
}

function pointsOf(samples: readonly Sample[], of: 'heapAfter' | 'codeAfter'): readonly Point[] {
  return samples.flatMap(({ seconds, [of]: value }) => (value === null ? [] : [{ seconds, value }]));
}

function spanOf(samples: readonly Sample[]): number {
  return (samples.at(-1)?.seconds ?? 0) - (samples[0]?.seconds ?? 0);
}

function longestProcess(samples: readonly Sample[]): readonly Sample[] {
  const byGeneration = new Map<number, Sample[]>();
  for (const sample of samples)
    byGeneration.set(sample.generation, [...(byGeneration.get(sample.generation) ?? []), sample]);
  const all = [...byGeneration.values()];
  return all.reduce((best, one) => (one.length > best.length ? one : best), []);
}

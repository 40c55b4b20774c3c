import { isFrozen, isSteady } from './frozen.ts';
import type { EngineName } from './model/collect-settings.ts';
import type { CollectFailure, CollectOutcome, Sample } from './model/collection.ts';
import type { LoadAwareSettings } from './model/server-group.ts';
import { isOutdated } from './outdated.ts';
import { observeBacklog, type PromptBacklog } from './prompts.ts';
import { isIntervalApart } from './run-step.ts';
import { judgeSaturation, type Mark, standingMark, UNMARKED } from './saturation.ts';

/** What is remembered of one backend's collections. */
export interface BackendMemory {
  /** When it joined a living group; undefined: it has been there from the group's start. */
  readonly joinedAtMs: number | undefined;
  /** Since when it drains; undefined: it does not. */
  readonly drainingSinceMs: number | undefined;
  /** The last sample that arrived. */
  readonly sample: Sample | undefined;
  /** The engine that it is of; undefined: of none that is known. */
  readonly engine: EngineName | undefined;
  readonly sampledAtMs: number;
  /** Since when the samples have been the same. */
  readonly steadySinceMs: number;
  /** Intervals without a sample since the last one, or since it came; runs that come early are none. */
  readonly missed: number;
  /** When the run began that `missed` is of; -Infinity: it has been asked in none. */
  readonly countedAtMs: number;
  /** This run gave nothing, and came too early for that to be one more that is missed. */
  readonly waiting: boolean;
  /** When a page last said that the engine sleeps; undefined: it does not, as far as is known. */
  readonly asleepAtMs: number | undefined;
  /** Why the latest collection gave no sample, if it did not. */
  readonly failure: CollectFailure | undefined;
  /** Stands while samples are missing, unless the backend is gone: nothing listens there any more. */
  readonly frozen: boolean;
  /** Stands as it was while the backend is frozen; ends when that does because the backend is gone. */
  readonly mark: Mark;
  /** Of the last sample; undefined: its engine does not tell. */
  readonly prompts: PromptBacklog | undefined;
}

export function newMemory(joinedAtMs: number | undefined): BackendMemory {
  return {
    joinedAtMs,
    drainingSinceMs: undefined,
    sample: undefined,
    engine: undefined,
    sampledAtMs: Number.NEGATIVE_INFINITY,
    steadySinceMs: Number.NEGATIVE_INFINITY,
    missed: 0,
    countedAtMs: Number.NEGATIVE_INFINITY,
    waiting: false,
    asleepAtMs: undefined,
    failure: undefined,
    frozen: false,
    mark: UNMARKED,
    prompts: undefined,
  };
}

/** Whether the last sample, or the word that the engine sleeps, is of this run. */
export function isFresh({ missed, waiting }: BackendMemory): boolean {
  return missed === 0 && !waiting;
}

/** Of one run. */
export interface RunTimes {
  readonly startedAtMs: number;
  /** When it is evaluated. */
  readonly nowMs: number;
}

/**
 * @param outcome undefined: the backend has not answered yet
 * @param tokensPerSecond how fast it computes prompts; undefined: not known
 */
export function remember(
  before: BackendMemory,
  outcome: CollectOutcome | undefined,
  settings: LoadAwareSettings,
  tokensPerSecond: number | undefined,
  run: RunTimes,
): BackendMemory {
  switch (outcome?.kind) {
    case 'sample':
      return rememberSample(before, outcome, settings, tokensPerSecond, run);
    case 'asleep':
      return rememberSleep(before, outcome.atMs, run);
    case 'failure':
      return rememberMiss(before, outcome.failure, settings, run);
    case undefined:
      return rememberMiss(before, undefined, settings, run);
  }
}

/** The sample of before stands for nothing any more, but tells gauges that have not moved since. */
function rememberSleep(before: BackendMemory, atMs: number, { startedAtMs }: RunTimes): BackendMemory {
  return {
    ...before,
    missed: 0,
    countedAtMs: startedAtMs,
    waiting: false,
    asleepAtMs: atMs,
    failure: undefined,
    frozen: false,
    mark: UNMARKED,
  };
}

function rememberSample(
  before: BackendMemory,
  { sample, engine, atMs }: CollectOutcome & { readonly kind: 'sample' },
  { balance, collect: { intervalSeconds } }: LoadAwareSettings,
  tokensPerSecond: number | undefined,
  { startedAtMs }: RunTimes,
): BackendMemory {
  const steadySinceMs = isSteady(before.sample, sample) ? before.steadySinceMs : atMs;
  const frozen = isFrozen(sample, atMs - steadySinceMs, before.mark.saturated, intervalSeconds);
  return {
    // one that wakes has an empty cache and no requests, as one that joins
    joinedAtMs: before.asleepAtMs === undefined ? before.joinedAtMs : atMs,
    drainingSinceMs: before.drainingSinceMs,
    sample,
    engine,
    sampledAtMs: atMs,
    steadySinceMs,
    missed: 0,
    countedAtMs: startedAtMs,
    waiting: false,
    asleepAtMs: undefined,
    failure: undefined,
    frozen,
    mark: frozen
      ? before.mark
      : judgeSaturation(before.mark, sample, balance.saturation, intervalSeconds, atMs),
    prompts: observeBacklog(before, sample, tokensPerSecond, (atMs - before.sampledAtMs) / 1000),
  };
}

/**
 * A collection that fails is missed at once, also in a run that comes early. One that has not ended then has done nothing
 * wrong: it is missed when it is not there after an interval, and so is the next one that fails.
 * @param failed undefined: the collection has not ended
 */
function rememberMiss(
  before: BackendMemory,
  failed: CollectFailure | undefined,
  { balance, collect: { intervalSeconds } }: LoadAwareSettings,
  { startedAtMs, nowMs }: RunTimes,
): BackendMemory {
  const failure = failed ?? before.failure;
  const isDue = isIntervalApart((startedAtMs - before.countedAtMs) / 1000, intervalSeconds);
  const counts = isDue || (failed !== undefined && before.missed === 0);
  const gone = before.frozen && failure?.kind === 'refused';
  const standing = standingMark(before.mark, nowMs - before.sampledAtMs, intervalSeconds);
  const { asleepAtMs } = before;
  const slept = asleepAtMs !== undefined && !isOutdated(nowMs - asleepAtMs, intervalSeconds);
  return {
    ...before,
    missed: before.missed + (counts ? 1 : 0),
    countedAtMs: counts ? startedAtMs : before.countedAtMs,
    waiting: !counts,
    asleepAtMs: slept ? asleepAtMs : undefined,
    failure,
    frozen: before.frozen && !gone,
    mark: balance.saturation === undefined || gone ? UNMARKED : standing,
  };
}

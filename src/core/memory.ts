import { isFrozen, isSteady } from './frozen.ts';
import type { EngineName } from './model/collect-settings.ts';
import type { CollectFailure, CollectOutcome, Sample } from './model/collection.ts';
import type { LoadAwareSettings } from './model/server-group.ts';
import { isOutdated } from './outdated.ts';
import { observeBacklog, type PromptBacklog } from './prompts.ts';
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
  /** Evaluations since the last one with a fresh sample, or since it came; 0: this one has one. */
  readonly missed: number;
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
    asleepAtMs: undefined,
    failure: undefined,
    frozen: false,
    mark: UNMARKED,
    prompts: undefined,
  };
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
  nowMs: number,
): BackendMemory {
  switch (outcome?.kind) {
    case 'sample':
      return rememberSample(before, outcome, settings, tokensPerSecond);
    case 'asleep':
      return rememberSleep(before, outcome.atMs);
    case 'failure':
      return rememberMiss(before, outcome.failure, settings, nowMs);
    case undefined:
      return rememberMiss(before, before.failure, settings, nowMs);
  }
}

/** The sample of before stands for nothing any more, but tells gauges that have not moved since. */
function rememberSleep(before: BackendMemory, atMs: number): BackendMemory {
  return { ...before, missed: 0, asleepAtMs: atMs, failure: undefined, frozen: false, mark: UNMARKED };
}

function rememberSample(
  before: BackendMemory,
  { sample, engine, atMs }: CollectOutcome & { readonly kind: 'sample' },
  { balance, collect: { intervalSeconds } }: LoadAwareSettings,
  tokensPerSecond: number | undefined,
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
    asleepAtMs: undefined,
    failure: undefined,
    frozen,
    mark: frozen
      ? before.mark
      : judgeSaturation(before.mark, sample, balance.saturation, intervalSeconds, atMs),
    prompts: observeBacklog(before, sample, tokensPerSecond, (atMs - before.sampledAtMs) / 1000),
  };
}

function rememberMiss(
  before: BackendMemory,
  failure: CollectFailure | undefined,
  { balance, collect: { intervalSeconds } }: LoadAwareSettings,
  nowMs: number,
): BackendMemory {
  const gone = before.frozen && failure?.kind === 'refused';
  const standing = standingMark(before.mark, nowMs - before.sampledAtMs, intervalSeconds);
  const { asleepAtMs } = before;
  const slept = asleepAtMs !== undefined && !isOutdated(nowMs - asleepAtMs, intervalSeconds);
  return {
    ...before,
    missed: before.missed + 1,
    asleepAtMs: slept ? asleepAtMs : undefined,
    failure,
    frozen: before.frozen && !gone,
    mark: balance.saturation === undefined || gone ? UNMARKED : standing,
  };
}

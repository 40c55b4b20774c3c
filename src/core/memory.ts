import { isFrozen, isSteady } from './frozen.ts';
import type { CollectFailure, CollectOutcome, LoadAwareSettings, Sample } from './model.ts';
import { judgeSaturation, type Mark, standingMark, UNMARKED } from './saturation.ts';

/** What is remembered of one backend's collections. */
export interface BackendMemory {
  /** When it joined a living group; undefined: it has been there from the group's start. */
  readonly joinedAtMs: number | undefined;
  /** The last sample that arrived. */
  readonly sample: Sample | undefined;
  readonly sampledAtMs: number;
  /** Since when the samples have been the same. */
  readonly steadySinceMs: number;
  /** Evaluations since the last one with a fresh sample, or since it came; 0: this one has one. */
  readonly missed: number;
  /** Why the latest collection gave no sample, if it did not. */
  readonly failure: CollectFailure | undefined;
  /** Stands while samples are missing, unless the backend is gone: nothing listens there any more. */
  readonly frozen: boolean;
  /** Stands as it was while the backend is frozen; ends when that does because the backend is gone. */
  readonly mark: Mark;
}

export function newMemory(joinedAtMs: number | undefined): BackendMemory {
  return {
    joinedAtMs,
    sample: undefined,
    sampledAtMs: Number.NEGATIVE_INFINITY,
    steadySinceMs: Number.NEGATIVE_INFINITY,
    missed: 0,
    failure: undefined,
    frozen: false,
    mark: UNMARKED,
  };
}

/** @param outcome undefined: the backend has not answered yet */
export function remember(
  before: BackendMemory,
  outcome: CollectOutcome | undefined,
  settings: LoadAwareSettings,
  nowMs: number,
): BackendMemory {
  return outcome?.kind === 'sample'
    ? rememberSample(before, outcome.sample, outcome.atMs, settings)
    : rememberMiss(before, outcome?.failure ?? before.failure, settings, nowMs);
}

function rememberSample(
  before: BackendMemory,
  sample: Sample,
  atMs: number,
  { balance, collect: { intervalSeconds } }: LoadAwareSettings,
): BackendMemory {
  const steadySinceMs = isSteady(before.sample, sample) ? before.steadySinceMs : atMs;
  const frozen = isFrozen(sample, atMs - steadySinceMs, before.mark.saturated, intervalSeconds);
  return {
    joinedAtMs: before.joinedAtMs,
    sample,
    sampledAtMs: atMs,
    steadySinceMs,
    missed: 0,
    failure: undefined,
    frozen,
    mark: frozen
      ? before.mark
      : judgeSaturation(before.mark, sample, balance.saturation, intervalSeconds, atMs),
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
  return {
    ...before,
    missed: before.missed + 1,
    failure,
    frozen: before.frozen && !gone,
    mark: balance.saturation === undefined || gone ? UNMARKED : standing,
  };
}

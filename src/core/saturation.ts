import type { SaturationSettings } from './model/balance-settings.ts';
import type { Sample } from './model/collection.ts';
import type { MarkCause } from './model/decision.ts';
import { isOutdated } from './outdated.ts';

/** What is remembered of a backend's saturation between samples. */
export interface Mark {
  readonly saturated: boolean;
  /** Samples in a row above the mark while it is not yet set. */
  readonly samplesAbove: number;
  /** What set it; undefined: it is not set. */
  readonly cause: MarkCause | undefined;
  /** Whether its running requests passed their own mark and have not cleared it since, whatever set the mark. */
  readonly overRunning: boolean;
}

export const UNMARKED: Mark = { saturated: false, samplesAbove: 0, cause: undefined, overRunning: false };

/**
 * Judges a fresh sample: raw values, with hysteresis. Below an interval of 1 s a mark needs its condition in every
 * sample of one second.
 * @param settings undefined: nothing is ever saturated
 * @param atMs when the sample was taken
 */
export function judgeSaturation(
  before: Mark,
  sample: Sample,
  settings: SaturationSettings | undefined,
  intervalSeconds: number,
  atMs: number,
): Mark {
  if (settings === undefined) return UNMARKED;
  const overRunning = isOverRunning(before, sample, settings);
  if (before.saturated) return isCleared(sample, settings) ? UNMARKED : { ...before, overRunning };
  const cause = causeOf(sample, settings, atMs);
  if (cause === undefined) return UNMARKED;
  const samplesAbove = before.samplesAbove + 1;
  return samplesAbove >= Math.ceil(1 / intervalSeconds)
    ? { saturated: true, samplesAbove: 0, cause, overRunning }
    : { saturated: false, samplesAbove, cause: undefined, overRunning };
}

/** While a sample is missing the state stands, but not for ever. */
export function standingMark(before: Mark, sampleAgeMs: number, intervalSeconds: number): Mark {
  return isOutdated(sampleAgeMs, intervalSeconds) ? UNMARKED : before;
}

/** A full KV cache alone is no saturation: it is one only while requests queue for it. */
function causeOf(sample: Sample, settings: SaturationSettings, atMs: number): MarkCause | undefined {
  const { totalQueuedRequests, kvCacheUtilization, runningRequests } = settings;
  const { queued = 0, kvUtilization = 0, running = 0 } = sample;
  if (queued > totalQueuedRequests.mark) {
    const { mark } = totalQueuedRequests;
    return { metric: 'TotalQueuedRequests', value: queued, mark, queued, atMs };
  }
  if (kvUtilization >= kvCacheUtilization.mark && queued > totalQueuedRequests.clear) {
    const { mark } = kvCacheUtilization;
    return { metric: 'KVCacheUtilization', value: kvUtilization, mark, queued, atMs };
  }
  if (runningRequests !== undefined && running > runningRequests.mark) {
    return { metric: 'RunningRequests', value: running, mark: runningRequests.mark, queued, atMs };
  }
  return undefined;
}

function isOverRunning(
  before: Mark,
  { running = 0 }: Sample,
  { runningRequests }: SaturationSettings,
): boolean {
  if (runningRequests === undefined) return false;
  return running > (before.overRunning ? runningRequests.clear : runningRequests.mark);
}

function isCleared(sample: Sample, { totalQueuedRequests, runningRequests }: SaturationSettings): boolean {
  return (
    (sample.queued ?? 0) <= totalQueuedRequests.clear &&
    (runningRequests === undefined || (sample.running ?? 0) <= runningRequests.clear)
  );
}

import type { Sample, SaturationSettings } from './model.ts';
import { isOutdated } from './outdated.ts';

/** What is remembered of a backend's saturation between samples. */
export interface Mark {
  readonly saturated: boolean;
  /** Samples in a row above the mark while it is not yet set. */
  readonly samplesAbove: number;
}

export const UNMARKED: Mark = { saturated: false, samplesAbove: 0 };
const MARKED: Mark = { saturated: true, samplesAbove: 0 };

/**
 * Judges a fresh sample: raw values, with hysteresis. Below an interval of 1 s a mark needs its condition in every
 * sample of one second.
 * @param settings undefined: nothing is ever saturated
 */
export function judgeSaturation(
  before: Mark,
  sample: Sample,
  settings: SaturationSettings | undefined,
  intervalSeconds: number,
): Mark {
  if (settings === undefined) return UNMARKED;
  if (before.saturated) return isCleared(sample, settings) ? UNMARKED : MARKED;
  if (!isAbove(sample, settings)) return UNMARKED;
  const samplesAbove = before.samplesAbove + 1;
  return samplesAbove >= Math.ceil(1 / intervalSeconds) ? MARKED : { saturated: false, samplesAbove };
}

/** While a sample is missing the state stands, but not for ever. */
export function standingMark(before: Mark, sampleAgeMs: number, intervalSeconds: number): Mark {
  return isOutdated(sampleAgeMs, intervalSeconds) ? UNMARKED : before;
}

/** A full KV cache alone is no saturation: it is one only while requests queue for it. */
function isAbove(sample: Sample, settings: SaturationSettings): boolean {
  const { totalQueuedRequests, kvCacheUtilization, runningRequests } = settings;
  const queued = sample.queued ?? 0;
  return (
    queued > totalQueuedRequests.mark ||
    ((sample.kvUtilization ?? 0) >= kvCacheUtilization.mark && queued > totalQueuedRequests.clear) ||
    (runningRequests !== undefined && (sample.running ?? 0) > runningRequests.mark)
  );
}

function isCleared(sample: Sample, { totalQueuedRequests, runningRequests }: SaturationSettings): boolean {
  return (
    (sample.queued ?? 0) <= totalQueuedRequests.clear &&
    (runningRequests === undefined || (sample.running ?? 0) <= runningRequests.clear)
  );
}

import { at } from './at.ts';
import type { Sample } from './model/collection.ts';

/** Most that a frozen backend gets, of the mean weight: wakes an idle engine and spares a hung one. */
export const TRICKLE = 0.02;

/** Whether nothing that a working engine keeps moving has moved: gauges bit-identical, counters flat. */
export function isSteady(before: Sample | undefined, sample: Sample): boolean {
  return (
    before !== undefined &&
    before.queued === sample.queued &&
    before.running === sample.running &&
    before.kvUtilization === sample.kvUtilization &&
    before.finished === sample.finished &&
    before.tokens === sample.tokens
  );
}

/**
 * Whether the gauges stand still while they should move: vLLM keeps the last values after all requests were aborted
 * (vllm-project/vllm#22545), and a hung engine does the same. Without the KV gauge or the finished counter, or where what
 * there is moves in large steps, long requests may look like that: only a marked backend counts, and only after longer.
 * @param steadyMs how long the values have been the same
 * @param saturated as of the previous evaluation
 */
export function isFrozen(
  sample: Sample,
  steadyMs: number,
  saturated: boolean,
  intervalSeconds: number,
): boolean {
  if (sample.kvUtilization === undefined || sample.finished === undefined || sample.coarse === true) {
    return saturated && steadyMs >= Math.max(120, 20 * intervalSeconds) * 1000;
  }
  const busy = (sample.queued ?? 0) + (sample.running ?? 0) > 0;
  return (saturated || busy) && steadyMs >= Math.max(10, 5 * intervalSeconds) * 1000;
}

/**
 * Limits the weights of frozen backends, in place.
 * @param weights 0: not in the assignment; at least one of the others is not frozen
 * @returns the most that a frozen one gets; undefined: none is
 */
export function limitToTrickle(
  weights: Float64Array,
  isFrozenAt: (index: number) => boolean,
): number | undefined {
  let sum = 0;
  let count = 0;
  let some = false;
  for (let index = 0; index < weights.length; index++) {
    const weight = at(weights, index);
    if (weight > 0) count++;
    if (isFrozenAt(index)) some = true;
    else sum += weight;
  }
  if (!some) return undefined;
  const most = (TRICKLE * sum) / count;
  for (let index = 0; index < weights.length; index++) {
    if (isFrozenAt(index)) weights[index] = Math.min(at(weights, index), most);
  }
  return most;
}

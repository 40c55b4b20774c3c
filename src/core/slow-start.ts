import { at } from './at.ts';

const DURATION_MS = 30_000;
const LEAST = 0.1;

/**
 * The part of the others' mean weight that a backend may have while it is new, 0.1..1.
 * @param joinedAtMs when it joined a living group; undefined: it was there from the start
 * @returns undefined when slow start is over
 */
export function slowStartLimit(joinedAtMs: number | undefined, nowMs: number): number | undefined {
  if (joinedAtMs === undefined || nowMs - joinedAtMs >= DURATION_MS) return undefined;
  return Math.max(LEAST, (nowMs - joinedAtMs) / DURATION_MS);
}

/**
 * Limits the weights of new backends, in place.
 * @param weights in roster order; 0: not in the assignment
 * @param limitOf {@link slowStartLimit} of a backend
 * @param isFrozen a frozen backend has its own limit and sets no measure
 * @returns the measure, mean weight per share of those past slow start; undefined: there is none, and no limit
 */
export function limitNewcomers(
  weights: Float64Array,
  shares: Float64Array,
  limitOf: (index: number) => number | undefined,
  isFrozen: (index: number) => boolean,
): number | undefined {
  let sum = 0;
  let count = 0;
  const newcomers: { readonly index: number; readonly limit: number }[] = [];
  for (let index = 0; index < weights.length; index++) {
    const weight = at(weights, index);
    if (weight === 0 || isFrozen(index)) continue;
    const limit = limitOf(index);
    if (limit !== undefined) {
      newcomers.push({ index, limit });
    } else {
      sum += weight / at(shares, index);
      count++;
    }
  }
  if (count === 0) return undefined;
  const measure = sum / count;
  for (const { index, limit } of newcomers) {
    weights[index] = Math.min(at(weights, index), at(shares, index) * measure * limit);
  }
  return measure;
}

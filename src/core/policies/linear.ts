import { at } from '../at.ts';
import { isUsable } from '../freshness.ts';
import type { SampleUse } from '../model.ts';

const FLOOR = 0.1;
const CEILING = 2;

/** Mean score of the backends with a usable sample, at least one. */
export function meanScore(scores: Float64Array, uses: readonly SampleUse[]): number {
  let sum = 0;
  let count = 0;
  for (let index = 0; index < scores.length; index++) {
    if (!isUsable(at(uses, index))) continue;
    sum += at(scores, index);
    count++;
  }
  return sum / count;
}

/** The score itself: the part of its configured share that a backend gets, 0.1..2. Scores are 0..1. */
export function linearFactor(score: number, mean: number, gain: number): number {
  return Math.min(CEILING, Math.max(FLOOR, 1 + 2 * gain * (score - mean)));
}

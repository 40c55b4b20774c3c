import { at } from '../at.ts';
import { isUsable } from '../freshness.ts';
import type { SampleUse } from '../model/decision.ts';

/** Bounds of {@link linearFactor}. */
export const LINEAR_BOUNDS = { least: 0.1, most: 2 } as const;

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
  const { least, most } = LINEAR_BOUNDS;
  return Math.min(most, Math.max(least, unboundedLinearFactor(score, mean, gain)));
}

export function unboundedLinearFactor(score: number, mean: number, gain: number): number {
  return 1 + 2 * gain * (score - mean);
}

import { at } from '../at.ts';
import { isUsable } from '../freshness.ts';
import type { Loads } from '../loads.ts';
import type { SampleUse } from '../model/decision.ts';
import type { Signal } from './signal.ts';
import type { WeighedSignal } from './weighed.ts';

/**
 * Score by linear normalisation, 0..1, in roster order; NaN where no sample is used. In each signal the lightest backend
 * has 1 and the heaviest 0, unless the spread between them is smaller than the signal's smallest one. All equal: 1.
 */
export function linearScores(
  loads: Loads,
  uses: readonly SampleUse[],
  signals: readonly WeighedSignal[],
): Float64Array {
  const scores = new Float64Array(uses.length);
  for (const { signal, part } of signals) {
    const values = signal.values(loads);
    const range = scoreRange(signal, loads, uses);
    for (let index = 0; index < values.length; index++) {
      scores[index] = at(scores, index) + part * scoreWithin(range, at(values, index));
    }
  }
  return scores;
}

/** The value of the best score, and how much more it takes to have the worst. */
export interface ScoreRange {
  readonly least: number;
  readonly spread: number;
}

export function scoreRange(signal: Signal, loads: Loads, uses: readonly SampleUse[]): ScoreRange {
  const { least, most } = rangeOf(signal.values(loads), uses);
  return { least, spread: Math.max(most - least, signal.spread(loads.means)) };
}

/** Score of one signal, 0..1. */
export function scoreWithin({ least, spread }: ScoreRange, value: number): number {
  return Math.min(1, Math.max(0, 1 - (value - least) / spread));
}

function rangeOf(values: Float64Array, uses: readonly SampleUse[]): { least: number; most: number } {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < values.length; index++) {
    if (!isUsable(at(uses, index))) continue;
    least = Math.min(least, at(values, index));
    most = Math.max(most, at(values, index));
  }
  return { least, most };
}

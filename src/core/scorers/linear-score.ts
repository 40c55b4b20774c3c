import { at } from '../at.ts';
import { isUsable } from '../freshness.ts';
import type { Loads } from '../loads.ts';
import type { SampleUse } from '../model.ts';
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
    const { least, most } = rangeOf(values, uses);
    const spread = Math.max(most - least, signal.spread(loads.means));
    for (let index = 0; index < values.length; index++) {
      const score = Math.min(1, Math.max(0, 1 - (at(values, index) - least) / spread));
      scores[index] = at(scores, index) + part * score;
    }
  }
  return scores;
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

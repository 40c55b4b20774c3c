import { at } from '../at.ts';
import type { Loads } from '../loads.ts';
import type { WeighedSignal } from '../scorers/weighed.ts';

/** Bounds of {@link adaptiveFactor}. */
export const ADAPTIVE_BOUNDS = { least: 0.1, most: 1.5 } as const;

/**
 * e of the rule, per backend in roster order: how much lighter than the mean it is (below 0: heavier), in units of the
 * signals' scales. 0 where no sample is used.
 */
export function deviations(loads: Loads, signals: readonly WeighedSignal[]): Float64Array {
  const result = new Float64Array(loads.queued.length);
  for (const { signal, part } of signals) {
    const mean = signal.mean(loads.means);
    const factor = part / signal.scale(loads.means);
    const values = signal.values(loads);
    for (let index = 0; index < values.length; index++) {
      const value = at(values, index);
      if (!Number.isNaN(value)) result[index] = at(result, index) + factor * (mean - value);
    }
  }
  return result;
}

/** Fair-share feedback: the part of its configured and learned share that a backend gets, 0.1..1.5. */
export function adaptiveFactor(deviation: number, gain: number): number {
  const { least, most } = ADAPTIVE_BOUNDS;
  return Math.min(most, Math.max(least, unboundedAdaptiveFactor(deviation, gain)));
}

export function unboundedAdaptiveFactor(deviation: number, gain: number): number {
  return 1 + gain * deviation;
}

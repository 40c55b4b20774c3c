import type { Load, Loads, Metrics } from '../loads.ts';
import type { ScorerName } from '../model/balance-settings.ts';

/** One signal of a backend's load. Higher is worse. */
export interface Signal {
  readonly name: ScorerName;
  /** Whether the group's engines have the metric. */
  has(metrics: Metrics): boolean;
  /** Per backend, in roster order; NaN where no sample is used. */
  values(loads: Loads): Float64Array;
  mean(means: Load): number;
  /** Adaptive: the difference that counts as one. Never tiny, so that a small spread is no reason to act. */
  scale(means: Load): number;
  /** Linear: the smallest spread that is stretched over the whole range of the score. */
  spread(means: Load): number;
}

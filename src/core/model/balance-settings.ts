/* How samples become weights, defaults filled in. */

export type ScorerName = 'TotalQueuedRequests' | 'KVCacheUtilization' | 'RunningRequests';
export type PolicyName = 'Adaptive' | 'Linear';
export type OnCollectFailure = 'Keep' | 'Remove';
export type AdmissionPolicy = 'Proportional' | 'None';

export interface Scorer {
  readonly name: ScorerName;
  /** Integer 0..100. */
  readonly weight: number;
}

/** A mark is set above `mark` and cleared at or below `clear`; `clear` < `mark`. */
export interface MarkSettings {
  readonly mark: number;
  readonly clear: number;
}

export interface SaturationSettings {
  readonly totalQueuedRequests: MarkSettings;
  /** Marked at or above, 0..1. */
  readonly kvCacheUtilization: { readonly mark: number };
  readonly runningRequests: MarkSettings | undefined;
  /** Whether sidecars refuse a share of the requests beforehand when all backends together have too much. */
  readonly admission: AdmissionPolicy;
}

/** The part of a load-aware configuration that turns samples into weights. */
export interface BalanceSettings {
  /** At least one, no name twice, not all weights 0. */
  readonly scorers: readonly Scorer[];
  readonly policy: PolicyName;
  /** undefined: `Saturation: false`. */
  readonly saturation: SaturationSettings | undefined;
  readonly onCollectFailure: OnCollectFailure;
}

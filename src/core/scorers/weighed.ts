import type { Metrics } from '../loads.ts';
import type { Scorer, ScorerName } from '../model/balance-settings.ts';
import { kvCacheUtilization } from './kv-cache-utilization.ts';
import { runningRequests } from './running-requests.ts';
import type { Signal } from './signal.ts';
import { totalQueuedRequests } from './total-queued-requests.ts';

const SIGNALS: Readonly<Record<ScorerName, Signal>> = {
  TotalQueuedRequests: totalQueuedRequests,
  KVCacheUtilization: kvCacheUtilization,
  RunningRequests: runningRequests,
};

/** A signal with its scorer's part of the whole: the parts add up to 1. */
export interface WeighedSignal {
  readonly signal: Signal;
  readonly part: number;
}

/** The signals that count: weight above 0, and every engine has the metric. The others carry the weight of the rest. */
export function weighedSignals(scorers: readonly Scorer[], metrics: Metrics): readonly WeighedSignal[] {
  const counting = scorers.filter(({ name, weight }) => weight > 0 && SIGNALS[name].has(metrics));
  const total = counting.reduce((sum, { weight }) => sum + weight, 0);
  return counting.map(({ name, weight }) => ({ signal: SIGNALS[name], part: weight / total }));
}

/** The scorers that have weight and whose metric is not to be had. */
export function lackingScorers(scorers: readonly Scorer[], metrics: Metrics): readonly ScorerName[] {
  return scorers
    .filter(({ name, weight }) => weight > 0 && !SIGNALS[name].has(metrics))
    .map(({ name }) => name);
}

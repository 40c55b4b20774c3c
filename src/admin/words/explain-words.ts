import type { GroupExplanation } from '../explanation.ts';
import type { ScorerName } from '../../core/model/balance-settings.ts';
import type { GroupMode } from '../../core/model/decision.ts';
import { figure } from './figures.ts';

/** What a signal is called in a sentence. */
export const SIGNAL_WORDS: Readonly<Record<ScorerName, string>> = {
  TotalQueuedRequests: 'queue',
  KVCacheUtilization: 'KV cache',
  RunningRequests: 'requests inside',
};

/** What a metric is called after its value. */
export const METRIC_WORDS: Readonly<Record<ScorerName, string>> = {
  TotalQueuedRequests: 'queued',
  KVCacheUtilization: 'of the KV cache',
  RunningRequests: 'running',
};

export const MODE_WORDS: Readonly<Record<GroupMode, string>> = {
  balanced: 'weights follow the load',
  kept: 'no backend gives metrics, the weights published before stand',
  configured: 'configured weights',
};

/** What a group under `Mode: Observe` says before its mode. */
export const OBSERVING_WORDS = 'Observe: only shown, sidecars have the configured weights';

type Reason = NonNullable<GroupExplanation['published']['reason']>;

export const REASON_WORDS: Readonly<Record<Reason, string>> = {
  first: 'it was the first',
  membership: 'a backend came or left',
  health: 'the health of a backend changed',
  configuration: 'a configured weight, or the Mode, changed',
  admission: 'the share that sidecars refuse changed',
  shares: 'the shares moved',
};

/** After a result that has bounds. What is left over from computing is no bound. */
export function boundWords(unbounded: number, bounded: number): string {
  if (Math.abs(unbounded - bounded) <= 1e-9 * Math.abs(bounded)) return '';
  return unbounded < bounded ? `, but at least ${figure(bounded)}` : `, but at most ${figure(bounded)}`;
}

import type { BackendId } from './backend.ts';
import type { EngineName } from './collect-settings.ts';

/*
 * What is observed: the load of backends, or why it is not known. Times named `…Ms` are monotonic milliseconds from
 * the process' clock.
 */

/** The load of one backend at one moment, summed over its series. Every number is finite and at least 0. */
export interface Sample {
  /** Queued requests. undefined: the engine has no such metric. */
  readonly queued: number | undefined;
  /** Running requests. undefined: the engine has no such metric. */
  readonly running: number | undefined;
  /** KV cache utilisation, 0..1. undefined: the engine has no such metric. */
  readonly kvUtilization: number | undefined;
  /** Counter of finished requests. undefined: the engine has no such metric. */
  readonly finished: number | undefined;
  /** Sum (seconds) and count of the engine's end-to-end latency histogram; counters. */
  readonly latency: { readonly sumSeconds: number; readonly count: number } | undefined;
  /**
   * Tokens of the prompts that the engine has begun with, and of those that have had their first token; counters. Missing:
   * the engine does not tell.
   */
  readonly prompts?: { readonly takenInTokens: number; readonly answeredTokens: number } | undefined;
  /**
   * Tokens generated or held, a counter or a gauge that moves with every few of them. Missing: the engine does not tell.
   */
  readonly tokens?: number | undefined;
  /** All of its values may stand still for minutes while the engine works. Missing: they do not. */
  readonly coarse?: true | undefined;
}

/** Why a collection gave no sample. `kind` is a bounded set: it becomes a metric label. */
export interface CollectFailure {
  readonly kind: CollectFailureKind;
  /** For people: bounded length, printable, with the value that was wrong (`status 500`, `vllm:num_requests_waiting is NaN`). */
  readonly message: string;
}

export type CollectFailureKind =
  | 'refused'
  | 'unreachable'
  | 'reset'
  | 'tls'
  | 'credentials'
  | 'timeout'
  | 'status'
  | 'not_metrics'
  | 'metric_absent'
  | 'not_a_number'
  | 'too_large'
  | 'protocol'
  | 'internal';

/** What one collection of one backend ended in. */
export type CollectOutcome =
  | {
      readonly kind: 'sample';
      readonly sample: Sample;
      /** Whose page it was; undefined: of none that is known. */
      readonly engine: EngineName | undefined;
      /** When the answer was complete. */
      readonly atMs: number;
      readonly durationMs: number;
      readonly bytes: number;
    }
  /** The engine says that it sleeps. */
  | { readonly kind: 'asleep'; readonly atMs: number; readonly durationMs: number; readonly bytes: number }
  | {
      readonly kind: 'failure';
      readonly failure: CollectFailure;
      readonly atMs: number;
      readonly durationMs: number;
    };

/** One run of a collection loop: what arrived since the previous run's end, late answers of earlier runs included. */
export interface CollectRun {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** A backend that is absent here has not answered yet. */
  readonly outcomes: ReadonlyMap<BackendId, CollectOutcome>;
}

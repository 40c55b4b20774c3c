import type { EndpointHealth } from '../core/model/assignment.ts';
import type { BackendId } from '../core/model/backend.ts';
import type { BalanceSettings } from '../core/model/balance-settings.ts';
import type { CollectOutcome } from '../core/model/collection.ts';
import type { PublishReason } from '../core/model/decision.ts';
import type { EnvoyLbPolicy, ServerGroupMode } from '../core/model/server-group.ts';
import type { UnixMs } from './state-shape.ts';

/**
 * What `GET /samples` tells: newline-delimited JSON, a {@link SampleHeader} first, then what happens as it happens. A file
 * of `plimsoll record` has the same lines, compressed, of one connection after the other, with lines of its own between
 * them. Fields and kinds are added; a new {@link SAMPLE_FORMAT} is for what an older reader would get wrong.
 *
 * Times named `…Ms` are monotonic milliseconds of the process that `instance` names, with fractions.
 */
export type SampleLine = SampleHeader | SampleGroups | SampleEvaluation;

/** In each first line. */
export const SAMPLE_FORMAT = 1;

export interface SampleHeader {
  readonly kind: 'plimsoll samples';
  readonly format: typeof SAMPLE_FORMAT;
  /** Version of the process that tells. */
  readonly version: string;
  /** Another one after each start of the process. */
  readonly instance: string;
  readonly startedAt: UnixMs;
  readonly now: UnixMs;
  /** The same moment by the clock of the evaluations. */
  readonly nowMs: number;
  readonly groups: readonly SampledGroup[];
}

/** The configuration is another one from here on. */
export interface SampleGroups {
  readonly kind: 'groups';
  readonly atMs: number;
  readonly groups: readonly SampledGroup[];
}

/** A server group that follows the load, without anything that may be secret. */
export interface SampledGroup {
  readonly name: string;
  readonly mode: ServerGroupMode;
  readonly envoyLbPolicy: EnvoyLbPolicy;
  /** Left out: None. */
  readonly locality?: 'Prefer';
  readonly intervalSeconds: number;
  /** A backend of it is in another group too; left out: none is. */
  readonly sharesBackends?: boolean;
  /** Requests of a session keep to their backend; left out: none does. */
  readonly keepsSessions?: boolean;
  readonly balance: BalanceSettings;
  readonly backends: readonly SampledBackend[];
  /** Evaluations so far. 0: what follows is all that it has learned from. */
  readonly evaluations: number;
  /** What sidecars have; null: nothing yet. */
  readonly published: SampledAssignment | null;
}

export interface SampledBackend {
  readonly id: BackendId;
  readonly weight: number;
  /** It is on its way out; left out: it is not. */
  readonly draining?: boolean;
  /** Where it runs; left out: nobody says. */
  readonly zone?: string;
}

export interface SampledAssignment {
  readonly endpoints: readonly (readonly [id: BackendId, weight: number, health: EndpointHealth])[];
  /** 0..0.95 */
  readonly dropShare: number;
}

/** One evaluation: all that the rule had to go by, and what was published. */
export interface SampleEvaluation {
  readonly kind: 'evaluation';
  readonly group: string;
  /** Counts the evaluations of the group, from 1. */
  readonly number: number;
  readonly atMs: number;
  readonly collectionStartedAtMs: number;
  readonly delaySeconds: number;
  /** A backend that is absent here has not answered. */
  readonly outcomes: readonly (readonly [id: BackendId, outcome: CollectOutcome])[];
  /** What sidecars have from here on; left out: what they had. */
  readonly published?: SampledAssignment & { readonly reason: PublishReason };
}

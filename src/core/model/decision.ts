import type { AdmissionDecision } from './admission.ts';
import type { Assignment, EndpointHealth } from './assignment.ts';
import type { Backend } from './backend.ts';
import type { ScorerName } from './balance-settings.ts';
import type { GroupBasis, WeightBasis } from './basis.ts';
import type { EngineName } from './collect-settings.ts';
import type { CollectFailure, Sample } from './collection.ts';
import type { ZoneDecision } from './zones.ts';

/*
 * What is decided: health, weight and share of every backend of a group, and what goes out. Times named `…Ms` are
 * monotonic milliseconds from the process' clock.
 */

/** Which sample step 2 of the rule used for a backend, and so why. */
export type SampleUse =
  /** Arrived after the previous evaluation. */
  | 'fresh'
  /** The first miss, or no answer yet in a run that came early: the last sample stands in. */
  | 'last'
  /** Connection refused, or missed while most answer: the worst of the fresh. */
  | 'worst'
  /** Never sampled, or too much is missing to blame this one: the means. */
  | 'mean'
  /** The gauges stand still while they should move: a trickle of traffic. */
  | 'frozen'
  /** Configured weight 0: polled and shown, not published. */
  | 'aside'
  /** Its engine sleeps: polled and shown, not published. */
  | 'asleep'
  /** It leaves: polled and shown, published as DRAINING. */
  | 'draining'
  /** `OnCollectFailure: Remove`: out of the assignment until it answers. */
  | 'removed'
  /** No sample was used: what is published stands, or the configured weight counts. */
  | 'none';

/** What made a backend count as saturated. */
export interface MarkCause {
  /** Whose mark was passed. */
  readonly metric: ScorerName;
  /** Its value then: requests; KV cache: 0..1. */
  readonly value: number;
  readonly mark: number;
  /** Queued requests then. A full KV cache is a cause only while more are queued than would clear the mark. */
  readonly queued: number;
  readonly atMs: number;
}

export interface BackendDecision {
  readonly backend: Backend;
  /** The last sample that arrived, whatever its age. */
  readonly sample: Sample | undefined;
  readonly sampleAgeMs: number | undefined;
  /** The engine that it is of; undefined: of none that is known. */
  readonly engine: EngineName | undefined;
  readonly use: SampleUse;
  /** Intervals without a sample since the last one; runs that come early are none. */
  readonly missed: number;
  /** The reason of the latest collection, if that failed. */
  readonly failure: CollectFailure | undefined;
  /**
   * Linear score, 0..100; the best in every signal has 100. undefined where no load was compared. Shown under either
   * policy.
   */
  readonly score: number | undefined;
  /** e_i of the rule: above 0 is lighter than the mean. 0 where the policy does not use it. */
  readonly deviation: number;
  /** Learned capacity, 0.2..3; 1 where the policy does not learn. */
  readonly capacity: number;
  /**
   * The weight that this evaluation came to, undithered, over the mean of those in the assignment. `weight` follows it
   * only when the decision is published.
   */
  readonly relativeWeight: number;
  /** Limit set by slow start as a fraction 0.1..1; undefined when not in slow start. */
  readonly slowStart: number | undefined;
  /** UNHEALTHY because its load is above the mark. */
  readonly saturated: boolean;
  /** What set its mark, also where that keeps it from nothing; undefined: it has none. No own property. */
  readonly markCause: MarkCause | undefined;
  /** Its gauges stand still while they should move. */
  readonly frozen: boolean;
  /** Its gauges show less than it takes: they are believed next to nothing. */
  readonly doubted: boolean;
  /** undefined: not in the assignment. */
  readonly health: EndpointHealth | undefined;
  /** The published integer weight, or the one that is only computed, where the group is observed; 0: not in the assignment. */
  readonly weight: number;
  /** Expected share of new requests, 0..1: the weight among the HEALTHY ones. */
  readonly share: number;
  /** What shaped this decision, for people, in the order of the rule. May be made when read: no own property. */
  readonly reasons: readonly string[];
  /** What `relativeWeight` was computed from. May be made when read: no own property. */
  readonly basis: WeightBasis;
}

/** Where a group's weights come from. */
export type GroupMode =
  /** Weights follow the load. */
  | 'balanced'
  /** No sample for a while: the last assignment stands. */
  | 'kept'
  /** No usable sample for longer, or no metric that a scorer could weigh: configured weights. */
  | 'configured';

export type PublishReason =
  | 'first'
  /** A backend came or left. */
  | 'membership'
  | 'health'
  /** A configured weight, or the mode of the group, is another one. */
  | 'configuration'
  /** The share that sidecars refuse is another one. */
  | 'admission'
  /** The shares among the healthy moved far enough. */
  | 'shares';

export interface GroupDecision {
  readonly serverGroup: string;
  readonly atMs: number;
  /** Start of the collection that this decision rests on; undefined: none. */
  readonly collectionStartedAtMs: number | undefined;
  readonly mode: GroupMode;
  /** g of the rule; 0 where weights do not follow the load. */
  readonly gain: number;
  /** R of the rule, seconds. */
  readonly staySeconds: number;
  /** d of the rule, seconds. */
  readonly delaySeconds: number;
  /** Every backend of the group, in the group's order. */
  readonly backends: readonly BackendDecision[];
  readonly admission: AdmissionDecision;
  /**
   * `Mode: Observe`. Then backends, admission, basis and `computed` tell what sidecars would be told, and `assignment`
   * has the configured weights.
   */
  readonly observing: boolean;
  /** What the rule came to. The same as `assignment` but for a group that is observed. */
  readonly computed: Assignment;
  /** What sidecars should have from here on: the last published one where `publish` is undefined. */
  readonly assignment: Assignment;
  /**
   * What sidecars of these zones should have instead, in the order of the names; undefined: nobody prefers a zone.
   * `assignment` is for all others.
   */
  readonly zones?: readonly ZoneDecision[] | undefined;
  /** Why the assignment, or that of a zone, should go out now; undefined: what was published stands. */
  readonly publish: PublishReason | undefined;
  /** Things an operator should know, in words. */
  readonly warnings: readonly string[];
  /** What the weights were computed from. Made when read. */
  readonly basis: GroupBasis;
}

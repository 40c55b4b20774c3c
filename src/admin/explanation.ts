import type { EndpointHealth } from '../core/model/assignment.ts';
import type { BackendId } from '../core/model/backend.ts';
import type { PolicyName, ScorerName } from '../core/model/balance-settings.ts';
import type { EngineName } from '../core/model/collect-settings.ts';
import type { CollectFailure } from '../core/model/collection.ts';
import type { GroupMode, PublishReason, SampleUse } from '../core/model/decision.ts';
import type { EnvoyLbPolicy } from '../core/model/server-group.ts';

/**
 * What `GET /explain/GROUP` answers. Fields are added but neither renamed nor taken away. null: there is no such
 * thing. Units are in the names: shares and utilisations named `…Ratio` are 0..1, an age is that at the moment that
 * the object around it tells of. Numbers are not rounded: every weight can be computed again from what is here.
 */
export interface GroupExplanation {
  readonly serverGroup: string;
  /** What the sidecars were told last, and what that came from. */
  readonly published: PublishedExplanation;
  /** The newest evaluation where it was not worth publishing; null: the published one is the newest. */
  readonly newest: NewestExplanation | null;
  readonly xdsStreams: XdsStreamsExplanation;
  /**
   * `Mode: Observe`: sidecars have the configured weights, all healthy, and refuse nothing. `published.decision` is then
   * the newest evaluation, and tells what sidecars would be told. null: `Mode: Active`.
   */
  readonly observing: ObservingExplanation | null;
  /** null: the configuration lists the backends, and none is on its way out. */
  readonly discovery: DiscoveryExplanation | null;
}

/** Where the backends come from, and how it stands with that. */
export interface DiscoveryExplanation {
  /** In words; null: the configuration lists them. */
  readonly source: string | null;
  /** Since the source last told a complete list; null: it never did, or there is no source. */
  readonly listAgeSeconds: number | null;
  readonly listedBackends: number;
  /** Why the source cannot be read or its list not be used, and for how long; null: all is well. */
  readonly failure: FailureExplanation | null;
  /** Why the group has no backends to go by yet; null: it has. */
  readonly waiting: string | null;
  /** What the source has and cannot be used, in words, at most 10. */
  readonly leftOut: readonly string[];
  readonly moreLeftOut: number;
  /** Those that the source does not tell any more, which is not believed yet. */
  readonly doubted: DeparturesExplanation;
  readonly draining: DeparturesExplanation;
}

export interface FailureExplanation {
  readonly reason: string;
  readonly forSeconds: number;
}

export interface DeparturesExplanation {
  readonly total: number;
  /** At most 20, and when they go; null: not before the source says more. */
  readonly shown: readonly { readonly backend: string; readonly inSeconds: number | null }[];
}

export interface ObservingExplanation {
  /** The share of the requests that would go elsewhere with `Mode: Active`. */
  readonly movedShareRatio: number;
}

/** How many streams there are. One that had the assignment when Plimsoll started and has been sent none is only open. */
export interface XdsStreamsExplanation {
  /** Open ones that endpoints may be asked for on, of all groups. */
  readonly open: number;
  /** Those that have acknowledged an assignment of this group. */
  readonly following: number;
  /** Those of them that have the one that is published. */
  readonly current: number;
}

export interface PublishedExplanation {
  /** As Envoy has it in `cluster.NAME.version_text`. */
  readonly version: string;
  readonly ageSeconds: number;
  readonly reason: PublishReason | null;
  /** From its publication; null: no sidecar has acknowledged it. */
  readonly firstAcknowledgementSeconds: number | null;
  readonly decision: DecisionExplanation;
}

export interface NewestExplanation {
  /** The share of the requests that would go elsewhere, if it were published. */
  readonly movedShareRatio: number;
  readonly decision: DecisionExplanation;
}

/** One evaluation of a group. */
export interface DecisionExplanation {
  readonly ageSeconds: number;
  readonly mode: GroupMode;
  /** `Mode: Observe`: no residual of a learned capacity changes, since the load does not answer to these weights. */
  readonly observing: boolean;
  /** null: the group has no load-aware extension. */
  readonly policy: PolicyName | null;
  readonly envoyLbPolicy: EnvoyLbPolicy;
  /** How strongly weights answer to a difference in load; null: no load was compared. */
  readonly gain: GainExplanation | null;
  readonly saturation: SaturationExplanation | null;
  readonly admission: AdmissionExplanation;
  /** The scorers that count; none where no load was compared. */
  readonly signals: readonly SignalExplanation[];
  /** Queued requests per unit of configured weight that a longer queue of a saturated backend counts as in the means; null: none has. */
  readonly mostQueuedInMeans: number | null;
  /** Under `Policy: Adaptive`; null: every speed is 1, as too little has finished or the engines have no counter. */
  readonly speed: SpeedExplanation | null;
  /** Under `Policy: Adaptive` the mean of residualCapacity · speed over those that take traffic; else 1. */
  readonly meanCapacity: number;
  /** Under `Policy: Linear`, 0..100, over the backends whose own sample counts. */
  readonly meanScore: number | null;
  /**
   * Under `Policy: Adaptive`: all weights are the configured ones, as remainingRatio of the gain is below 1/e, requests stay for 2 s or
   * more, 16 or more are inside a backend on average, and nothing else tells the backends apart: all are configured alike, have a
   * fresh sample, no mark, no slow start, a trust of 0.2 or more and a capacity of 0.90 to 1.11 (0.82 to 1.22 where sidecars have equal
   * weights already). Not while a share is refused, nor with RoundRobin or `Locality: Prefer`.
   */
  readonly equalWeights: boolean;
  readonly loadFactorBounds: { readonly least: number; readonly most: number } | null;
  /** Mean of `computedWeight` over the assignment. */
  readonly meanComputedWeight: number;
  /** The integer weight that stands for the mean. */
  readonly weightScale: number;
  readonly warnings: readonly string[];
  /**
   * `Locality: Prefer`: what sidecars of these zones are told instead of what stands here; none: all are told the same.
   */
  readonly zones: readonly ZoneExplanation[];
  /** In the order of the configuration. */
  readonly backends: readonly BackendExplanation[];
}

/**
 * Sidecars of a zone have the weights of the group, those of all other zones times `awayFactor` (and shifted by at most
 * 0.1 % of their own). It is (overflowRatio · H / (H + A - overflowRatio · A)) ^ bias, with H and A the sums of the
 * computedWeights of the healthy backends in the zone and elsewhere, and bias 2 with `EnvoyLbPolicy: LeastRequest`, else
 * 1; but 1 where one of the two sums is 0.
 */
export interface ZoneExplanation {
  readonly zone: string;
  /** How many of its backends are in the assignment. */
  readonly backends: number;
  /** How much busier than the group the zone is, in units of the deviation; null: no sample of its backends counts. */
  readonly excess: number | null;
  /** The part of what it is configured for that takes requests now. */
  readonly availableRatio: number;
  /** What a difference moves at once, and what differences have added up to. */
  readonly gain: number;
  readonly integralRatio: number;
  /**
   * Of the requests that plain balancing would send to other zones, the part that goes there:
   * 1 - availableRatio · (1 - x), x = integralRatio + gain · (excess - 0.1) within 0 and 1, but at least 0.01; 1 where
   * `plain`.
   */
  readonly overflowRatio: number;
  /** No load is compared, or a share is refused: the zone counts for nothing. */
  readonly plain: boolean;
  readonly awayFactor: number;
  /** The share of new requests that stays in the zone, by the weights. */
  readonly homeShareRatio: number;
}

/**
 * Over the backends with a counter of finished requests and a gauge of running ones that take traffic. Sums fade with a
 * time constant of a minute, or six intervals where that is longer. A backend's `speed` is
 * (x / typicalRatio) ^ exponent / meanPower, but 0.2..3, with
 * x = (finishedRequests + 20) / (runningSeconds / secondsPerRequest + 20).
 */
export interface SpeedExplanation {
  readonly backends: number;
  readonly finishedRequests: number;
  /** Request-seconds spent running. */
  readonly runningSeconds: number;
  /** runningSeconds / finishedRequests */
  readonly secondsPerRequest: number;
  /** Geometric mean of x. */
  readonly typicalRatio: number;
  /** max(0, 1 - mean of 2 / (finishedRequests + 20) / mean of ln(x / typicalRatio)²): what chance does not explain. */
  readonly exponent: number;
  readonly meanPower: number;
}

/** `value` is the smaller one of `feedback` = trust · remainingRatio / (1 - remainingRatio) and `limit`. */
export interface GainExplanation {
  readonly value: number;
  readonly intervalSeconds: number;
  readonly delaySeconds: number;
  /** How much older the gauges are than the answers that they came in, s. */
  readonly lagSeconds: number;
  readonly staySeconds: number;
  /** exp(-(intervalSeconds + delaySeconds + 2 · lagSeconds) / staySeconds) */
  readonly remainingRatio: number;
  /** 0.7, with `EnvoyLbPolicy: LeastRequest` 0.5 */
  readonly trust: number;
  readonly feedback: number;
  /** Per unit of configured share. */
  readonly meanInsideRequests: number;
  /** meanInsideRequests / 16, but 1..3 */
  readonly limit: number;
}

export interface SaturationExplanation {
  readonly queuedMarkRequests: number;
  readonly queuedClearRequests: number;
  readonly kvCacheMarkRatio: number;
  /** null: running requests are not looked at. */
  readonly runningMarkRequests: number | null;
  readonly runningClearRequests: number | null;
}

/** Whether sidecars refuse a share of the requests. */
export interface AdmissionExplanation {
  /** engaged: in an overload whose share is too small to be refused at this moment. */
  readonly kind: 'disabled' | 'unavailable' | 'off' | 'engaged' | 'shedding';
  /** The share that sidecars were told to refuse. */
  readonly publishedShareRatio: number;
  /** As this evaluation computed it. */
  readonly computedShareRatio: number;
  /** Why it is unavailable, or why the share was not computed from figures though it is engaged. */
  readonly reason: string | null;
  /** Queue up to which a mark keeps no backend out in an overload, and as it ends; null: marks count as they are. */
  readonly sparedUpToRequests: number | null;
  /**
   * Where `computedShareRatio` comes from, with x = waitSeconds / targetSeconds and tau = timeConstantSeconds:
   * integralRatio is previousRatio · keptRatio + min(0.45 · elapsedSeconds / tau² · (x - 1), 0.085 · elapsedSeconds), and
   * the share integralRatio + 0.6 / tau · (x - 1), both within 0 and 0.95; a share below 0.02 counts as 0. null: it is
   * neither engaged nor shedding, or see `reason`.
   */
  readonly control: {
    /** As in the figures; at most their medianWaitSeconds where half of the backends have had next to no queue for long. */
    readonly waitSeconds: number;
    /** Since the evaluation before; the interval where that is half of it or more. */
    readonly elapsedSeconds: number;
    /** max(4, 2 · (interval + 0.1)) */
    readonly timeConstantSeconds: number;
    /** For how long the wait has been below a quarter of the target. */
    readonly calmSeconds: number;
    /** exp(-elapsedSeconds / 10) where calmSeconds is at least 3, else 1. */
    readonly keptRatio: number;
    readonly previousRatio: number;
    readonly integralRatio: number;
  } | null;
  readonly figures: {
    readonly backends: number;
    /** How many of them are above their mark. */
    readonly markedBackends: number;
    readonly medianQueuedRequests: number;
    readonly meanQueuedRequests: number;
    readonly finishedPerSecond: number;
    readonly waitSeconds: number;
    readonly medianWaitSeconds: number;
    readonly engagedAboveSeconds: number;
    readonly targetSeconds: number;
  } | null;
}

/** What the load of all was compared to: requests per unit of configured share; KV cache 0..1. */
export interface SignalExplanation {
  readonly name: ScorerName;
  /** Its part of the scorer weights that count, 0..1. */
  readonly part: number;
  readonly mean: number;
  /** Adaptive: the difference that counts as one. */
  readonly scale: number;
  /** Linear: the value of score 100, and how much more it takes to have 0. */
  readonly least: number;
  readonly spread: number;
}

/**
 * `computedWeight` is `keptWeight`, or configuredShare where the decision has `equalWeights`, or else configuredShare · capacity · loadFactor · `prompts.freeRatio`, at most
 * `slowStart.mostWeight` and `trickle.mostWeight`. Over `meanComputedWeight` and times `weightScale` it is `unditheredWeight`; the published
 * `weight` is that shifted by at most 0.1 %, rounded, at least 1. While the group is observed, `weight` and `shareRatio`
 * are what sidecars would have, and so of an earlier evaluation where the shares have moved too little since.
 */
export interface BackendExplanation {
  readonly backend: BackendId;
  /** null: not in the assignment. */
  readonly health: EndpointHealth | null;
  /** The published integer; 0: not in the assignment. */
  readonly weight: number;
  /** Expected share of new requests, by the published weights. */
  readonly shareRatio: number;
  readonly configuredWeight: number;
  /** Configured weight over the mean of those that take traffic; 0 where it takes none. */
  readonly configuredShare: number;
  readonly sample: SampleExplanation | null;
  /** The engine that it is of; null: never sampled, or of none that is known. */
  readonly engine: EngineName | null;
  /** Which sample was used, and so why. */
  readonly sampleUse: SampleUse;
  /** Of intervals: an evaluation that came early is none. */
  readonly missedEvaluations: number;
  readonly failure: CollectFailure | null;
  /** What was compared, in the order of the decision's signals; none where the load was not compared. */
  readonly signals: readonly SignalValueExplanation[];
  /** Sum of the signals' deviations; above 0 is lighter than the mean. 0 where the policy does not use it. */
  readonly deviation: number;
  /** Linear score, 0..100: the sum of the signals' scores times their parts. */
  readonly score: number | null;
  /** The learned capacity: residualCapacity · speed / meanCapacity, but 0.2..3; 1 where the weight does not use it. */
  readonly capacity: number;
  /** What the load says again and again beside the speed. */
  readonly residualCapacity: number;
  readonly speed: number;
  /** What the speed comes from; null: it is not compared (as one that is doubted and seems faster than all), its speed is 1. */
  readonly pace: { readonly finishedRequests: number; readonly runningSeconds: number } | null;
  /** How far its gauges are believed, and why; null: its engine lacks the counter or the gauge that tells it. */
  readonly intake: IntakeExplanation | null;
  /** Adaptive: 1 + gain · deviation. Linear: 1 + 2 · gain · (score - meanScore) / 100. */
  readonly unboundedLoadFactor: number;
  /** The same within `loadFactorBounds`. */
  readonly loadFactor: number;
  /** Prompts that it has to compute before others have their turn; null: none that are known of. */
  readonly prompts: PromptsExplanation | null;
  /** What was published before, where that stands because nobody answers. */
  readonly keptWeight: number | null;
  /** mostWeight = configuredShare · measureWeight · limitRatio; null: there is nobody to measure by, and no limit. */
  readonly slowStart: {
    readonly ageSeconds: number;
    readonly limitRatio: number;
    /** Mean of computedWeight / configuredShare of those past slow start. */
    readonly measureWeight: number | null;
    readonly mostWeight: number | null;
  } | null;
  /** Its gauges stand still while they should move. */
  readonly frozen: boolean;
  readonly trickle: { readonly steadySeconds: number; readonly mostWeight: number } | null;
  readonly computedWeight: number;
  readonly unditheredWeight: number;
  /** Kept from new requests because its load is above the mark. */
  readonly saturated: boolean;
  /** What set its mark, also where that keeps it from nothing; null: it has none. */
  readonly mark: MarkExplanation | null;
  /** In words, in the order of the rule. */
  readonly reasons: readonly string[];
}

export interface PromptsExplanation {
  /** What is left to compute of them. */
  readonly tokens: number;
  /** How fast they are computed, by what all backends did of late. */
  readonly tokensPerSecond: number;
  /** tokens / tokensPerSecond */
  readonly seconds: number;
  /** 1 - seconds / intervalSeconds, at least 0.1 */
  readonly freeRatio: number;
}

/** Sums that fade: of some 60 requests of each backend, but of a minute (or four intervals) at least and 200 s at most. */
export interface IntakeExplanation {
  /** 0..1: what its gauges show below the mean counts so much. */
  readonly trust: number;
  /** Requests that came by its own metrics. */
  readonly arrivedRequests: number;
  /** Requests that its share brings, by those that came to the others; null: there are none to go by. */
  readonly expectedRequests: number | null;
  readonly finishedRequests: number;
  readonly runningSeconds: number;
  /**
   * How long each that finished should run: as those of the others, or by its engine's own latency where that is less; null:
   * the others have finished none.
   */
  readonly secondsPerRequest: number | null;
}

export interface SampleExplanation {
  readonly ageSeconds: number;
  /** null: the engine has no such metric. */
  readonly queuedRequests: number | null;
  readonly runningRequests: number | null;
  readonly kvCacheRatio: number | null;
}

export interface SignalValueExplanation {
  readonly name: ScorerName;
  /** Put in by the rule where the backend's own value does not count. */
  readonly value: number;
  /** part · (mean - value) / scale */
  readonly deviation: number;
  /** 100 · (1 - (value - least) / spread), but 0..100 */
  readonly score: number;
}

export interface MarkExplanation {
  /** Whose mark was passed. */
  readonly metric: ScorerName;
  /** Its value then: requests; KV cache 0..1. */
  readonly value: number;
  readonly mark: number;
  readonly queuedRequests: number;
  readonly ageSeconds: number;
}

/** What `GET /explain` answers. */
export interface GroupListExplanation {
  readonly serverGroups: readonly {
    readonly serverGroup: string;
    /** null: not evaluated yet. */
    readonly mode: GroupMode | null;
    readonly backends: number;
    /** Of those that `/state` has. */
    readonly warnings: number;
  }[];
}

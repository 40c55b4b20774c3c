import type { PolicyName, SaturationSettings, ScorerName } from './balance-settings.ts';
import type { EnvoyLbPolicy } from './server-group.ts';

/*
 * What is explained: the figures that weights follow from. Times named `…Ms` are monotonic milliseconds from the
 * process' clock.
 */

/**
 * What a backend took of late, by its own metrics, beside what that of the others makes expect. Sums fade together, so
 * that they are of some 60 requests of each backend, but of a minute (or four intervals) at least and 200 s at most.
 */
export interface Intake {
  /** How far the gauges are believed, 0..1: what they show below the mean counts so much. */
  readonly trust: number;
  /** Requests that came: what finished, and what its gauges rose by. */
  readonly arrived: number;
  /** Requests that its published share brings, by those that came to the others. */
  readonly expected: number;
  readonly finished: number;
  /** Request-seconds spent running. */
  readonly runningSeconds: number;
  /**
   * How long each that finished should run: as those of the others, or by its engine's own latency where that is less; NaN:
   * they have finished none.
   */
  readonly secondsPerRequest: number;
}

/** One scorer: what the load of all was compared to. Requests are per unit of configured share. */
export interface SignalBasis {
  readonly name: ScorerName;
  /** Its part of the scorer weights that count, 0..1. */
  readonly part: number;
  /** Over the backends whose own sample counts. */
  readonly mean: number;
  /** Adaptive: the difference that counts as one. */
  readonly scale: number;
  /** Linear: the lightest value, whose score is 100, and how much more it takes to have 0. */
  readonly least: number;
  readonly spread: number;
}

/** How the gain came about: the smaller one of `feedback` and `limit`. */
export interface GainBasis {
  readonly intervalSeconds: number;
  readonly delaySeconds: number;
  /** L of the rule: how much older the gauges are than the answers that they came in, in whole intervals; counts twice. */
  readonly lagSeconds: number;
  readonly staySeconds: number;
  /** A of the rule: the part of the requests seen that are still there when the weights are in force. */
  readonly remaining: number;
  /** γ of the rule. */
  readonly trust: number;
  /** γ·A/(1 - A) */
  readonly feedback: number;
  /** n̄ of the rule: mean requests inside, per unit of configured share. */
  readonly meanInside: number;
  readonly limit: number;
}

/**
 * What speeds follow from. That of a backend is (x / `typical`) ^ `exponent` / `meanPower`, 0.2..3, with
 * x = (finished + 20) / (runningSeconds / `secondsPerRequest` + 20). Sums fade with a time constant of a minute, or six
 * intervals where that is longer.
 */
export interface SpeedBasis {
  /**
   * How many are compared: those that take traffic and have the counter of finished requests and the gauge of running,
   * but for those that are doubted and seem faster than all.
   */
  readonly backends: number;
  readonly finished: number;
  /** Request-seconds spent running. */
  readonly runningSeconds: number;
  /** Their quotient. */
  readonly secondsPerRequest: number;
  /** Geometric mean of x. */
  readonly typical: number;
  /** The part of the spread of ln x that chance does not explain, 0..1. */
  readonly exponent: number;
  /** Mean of (x / `typical`) ^ `exponent`. */
  readonly meanPower: number;
}

/** What the weights of a group were computed from. */
export interface GroupBasis {
  /** undefined: the group has no load-aware extension. */
  readonly policy: PolicyName | undefined;
  readonly envoyLbPolicy: EnvoyLbPolicy;
  readonly saturation: SaturationSettings | undefined;
  /** The scorers that count; empty: no load was compared. */
  readonly signals: readonly SignalBasis[];
  /** What a longer queue of a saturated backend counts as in the means, per unit of configured share; undefined: nobody has one. */
  readonly mostQueued: number | undefined;
  /** undefined: no load was compared. */
  readonly gain: GainBasis | undefined;
  /** Adaptive; undefined: all speeds are 1. */
  readonly speed: SpeedBasis | undefined;
  /** Adaptive: mean of residual · speed over those that take traffic; else 1. */
  readonly meanCapacity: number;
  /** Linear: mean score of the backends whose own sample counts, 0..100. */
  readonly meanScore: number | undefined;
  /** Bounds of what the load makes of a weight. */
  readonly loadFactorBounds: { readonly least: number; readonly most: number } | undefined;
  /**
   * Adaptive: all weights are the configured ones, since what is known of the load is older than a request stays and nothing
   * else tells the backends apart.
   */
  readonly alike: boolean;
  /** Mean of {@link WeightBasis.weight} over the assignment; 0: it is empty. */
  readonly meanWeight: number;
  /** S of the rule: the integer weight of a backend of mean weight, before the dither. */
  readonly scale: number;
}

/** Prompts that a backend has to compute before others have their turn. */
export interface PromptBasis {
  /** What is left to compute of them. */
  readonly tokens: number;
  /** How fast they are computed, by what all backends did. */
  readonly tokensPerSecond: number;
  readonly seconds: number;
  /** What that leaves of the time until the next weights, 0.1..1: so much of its weight the backend keeps. */
  readonly free: number;
}

/** A backend's value of one signal of the group. */
export interface SignalValue {
  readonly name: ScorerName;
  /** Requests per unit of configured share; KV cache: 0..1. Put in by the rule where the backend's own does not count. */
  readonly value: number;
  /** Its part of the deviation: part · (mean - value) / scale. */
  readonly deviation: number;
  /** Linear score of this signal, 0..100. */
  readonly score: number;
}

/**
 * What a weight was computed from. `weight` is `kept`, or configuredShare where all are alike, or else configuredShare · capacity · loadFactor, at most
 * `slowStart.most` and `trickle.most`. Over the mean and times the scale that is the published weight without dither.
 */
export interface WeightBasis {
  /** c of the rule: configured weight over the mean of those that take traffic. */
  readonly configuredShare: number;
  /** In the order of the group's signals; empty: this backend's load was not compared. */
  readonly signals: readonly SignalValue[];
  /** The learned capacity as far as the weight uses it: residual · speed over the group's mean, 0.2..3; else 1. */
  readonly capacity: number;
  readonly residual: number;
  readonly speed: number;
  /** What the speed comes from; undefined: this backend is not compared. */
  readonly pace: { readonly finished: number; readonly runningSeconds: number } | undefined;
  /** How far its gauges are believed, and why; undefined: its engine lacks the counter or the gauge that tells it. */
  readonly intake: Intake | undefined;
  /** Adaptive; undefined: it has none, or that is not known. */
  readonly prompts: PromptBasis | undefined;
  /** What the load makes of the weight, before and after its bounds; 1 where it is not weighed. */
  readonly unboundedLoadFactor: number;
  readonly loadFactor: number;
  /** The weight as last published, where that stands because nobody answers. */
  readonly kept: number | undefined;
  /** `most` is configuredShare · mean weight per share of those past slow start · limit; undefined: none such. */
  readonly slowStart:
    | {
        readonly ageMs: number;
        readonly limit: number;
        readonly measure: number | undefined;
        readonly most: number | undefined;
      }
    | undefined;
  readonly trickle: { readonly steadyMs: number; readonly most: number } | undefined;
  /** w of the rule; 0: not in the assignment. */
  readonly weight: number;
  /** The integer weight before the dither, not rounded. */
  readonly unditheredWeight: number;
}

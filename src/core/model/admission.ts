/* Which share of the requests sidecars refuse beforehand, and what it follows from. */

/** What the refused share follows from. All of one evaluation, so that it can be worked out again. */
export interface AdmissionFigures {
  /** N of the rule: backends with a fresh sample that counts. */
  readonly backends: number;
  /** How many of them are above their mark. */
  readonly marked: number;
  /** Of an even number the lower one of the two in the middle. */
  readonly medianQueued: number;
  /** A queue far above the median counts as 10 + 3 medians. */
  readonly meanQueued: number;
  /** mu of the rule: requests that a backend finishes per second when it is busy; at least what it finished over the last 10 s, and 0.5. */
  readonly finishedPerSecond: number;
  /** `meanQueued` over `finishedPerSecond`: how long a new request waits for its turn. */
  readonly waitSeconds: number;
  /** Twice `medianQueued` over `finishedPerSecond`. */
  readonly medianWaitSeconds: number;
  /** It engages when both waits are above this, or more than half of the backends above their mark. */
  readonly engagedAboveSeconds: number;
  /** The wait that is aimed at while shedding. */
  readonly targetSeconds: number;
}

/**
 * One step of the controller, with x = `waitSeconds` over the target and tau = `timeConstantSeconds`: `integral` is
 * `previous` · `kept` + min(0.45 · `elapsedSeconds` / tau² · (x - 1), 0.085 · `elapsedSeconds`), and the share `integral`
 * + 0.6 / tau · (x - 1), both within 0 and 0.95. A share below 0.02 is not refused; when the integral is below that too, the
 * controller is no longer engaged.
 */
export interface AdmissionControl {
  /** The wait that counts: of the figures the first, or where half of the backends have had next to no queue for long the smaller one. */
  readonly waitSeconds: number;
  /** Since the previous evaluation; the interval where that is half of it or more. */
  readonly elapsedSeconds: number;
  readonly timeConstantSeconds: number;
  /** For how long next to nothing has queued. From 3 s on `kept` is less than 1. */
  readonly calmSeconds: number;
  /** What is left of `previous`, 0..1. */
  readonly kept: number;
  readonly previous: number;
  readonly integral: number;
}

/** What the share comes from while the controller is engaged. */
export type SheddingBasis =
  | { readonly kind: 'measured'; readonly figures: AdmissionFigures; readonly control: AdmissionControl }
  /** No sample of this evaluation counts: it is as before. */
  | { readonly kind: 'standing' }
  /** Most backends are above their marks, and what they can do is not known yet. */
  | { readonly kind: 'unmeasured' };

/** Whether sidecars refuse a share of the requests, and why. */
export type AdmissionDecision =
  /** Not configured, or not for a group without a load-aware extension. */
  | { readonly kind: 'disabled' }
  /** Nothing to go by: only the marks protect the backends. */
  | { readonly kind: 'unavailable'; readonly reason: string }
  /**
   * Not engaged. `figures` undefined: no sample of this evaluation counts, or nothing has queued yet. `sparedUpTo`: as below, in
   * the evaluation that ends an overload; marks that it spares are forgotten after it.
   */
  | { readonly kind: 'off'; readonly sparedUpTo?: number; readonly figures: AdmissionFigures | undefined }
  /** Engaged, but the share is too small to be refused now; it may be refused at any wait that makes it large enough. */
  | { readonly kind: 'engaged'; readonly sparedUpTo: number | undefined; readonly basis: SheddingBasis }
  /**
   * Engaged. `share` 0.02..0.95, as computed; what is published may be up to 0.005 away. `sparedUpTo`: queue up to which a backend
   * above its mark is not kept from requests; undefined: marks count as they are.
   */
  | {
      readonly kind: 'shedding';
      readonly share: number;
      readonly sparedUpTo: number | undefined;
      readonly basis: SheddingBasis;
    };

import type { AdmissionControl } from './model/admission.ts';
import type { Overload } from './overload.ts';

/** Requests finished, and the backend-seconds that they took, over runs of which each fades the earlier ones. */
export interface Rate {
  readonly finished: number;
  readonly seconds: number;
}

/** What the controller of the refused share remembers. */
export interface Admission {
  /** p of the rule: the share of requests that sidecars refuse by themselves, 0 or 0.02..0.95; 0 while it is not engaged. */
  readonly share: number;
  /** What the waits so far add to the share, 0..0.95. */
  readonly integral: number;
  /** How long next to nothing has queued while it is engaged, s. */
  readonly calmSeconds: number;
  /** How long the wait has been above the target while at least half of the backends had next to no queue, s. */
  readonly loneSeconds: number;
  /** How long the most has been refused, s. */
  readonly mostSeconds: number;
  /** It is in an overload: the share follows the wait, whatever {@link Wait.engagedAbove} is. */
  readonly engaged: boolean;
  /**
   * A backend above its mark is spared while no more queue there: it is no worse than the others, and the share is for all
   * of them, also while it is 0. So it is in the run that ends an overload. undefined: marks count as they are.
   */
  readonly sparedUpTo: number | undefined;
  /** No engine has shown a counter of finished requests so far, not even a busy one. */
  readonly lacksCounter: boolean;
  /** Over the runs in which something queued: what backends can do. */
  readonly busy: Rate;
  /** Over all runs: no less than this can they do. */
  readonly all: Rate;
}

/** What the controller made of one run's queues. */
export interface Wait {
  /** mu of the rule: requests that a backend finishes per second when it is busy, or did lately if that is more. */
  readonly finishedPerSecond: number;
  /** How long a new request has to wait for its turn: the mean queue over mu, s. */
  readonly seconds: number;
  /** The same by twice the median queue. Both have to be above `engagedAbove`, so that one backend is no overload. */
  readonly medianSeconds: number;
  /** From there on it is engaged, s. */
  readonly engagedAbove: number;
}

export const INITIAL_ADMISSION: Admission = {
  share: 0,
  integral: 0,
  calmSeconds: 0,
  loneSeconds: 0,
  mostSeconds: 0,
  engaged: false,
  sparedUpTo: undefined,
  lacksCounter: false,
  busy: { finished: 0, seconds: 0 },
  all: { finished: 0, seconds: 0 },
};

/** Time to the first token that callers are content with, s. Everything else is measured by it. */
const SLO_SECONDS = 1;
/** The wait that is aimed at, s: long enough that no engine runs dry, short enough for the objective. */
export const TARGET_SECONDS = 0.3 * SLO_SECONDS;
/** Every sidecar must always let some through: only answers tell that the overload is over. */
const MOST = 0.95;
/** Queues of so many medians are one backend's own, */
const SPARED_MEDIANS = 3;
/** but never so short ones: behind one long prompt as many wait for a second. */
const LEAST_SPARED = 20;
/** A smaller share is not worth the refusals. */
const LEAST = 0.02;
/** Keeps a fleet at a standstill, whose rate is 0, from an endless wait. */
const LEAST_FINISHED_PER_SECOND = 0.5;
/** Window of mu, s. */
const RATE_SECONDS = 10;
/** The integral grows by at most this per second: what a rush leaves behind must not refuse for long after. */
const MOST_GROWTH = 0.085;
/** The wait, in targets, below which next to nothing queues. */
const CALM = 0.25;
/** After so long of that the share fades, s. */
const CALM_SECONDS = 3;
/** With this time constant, s. */
const FADING_SECONDS = 10;

/** Queues that are a few backends' own for so long, s or intervals, are no reason to refuse. */
const LONE_SECONDS = 10;
const LONE_INTERVALS = 3;
/** The first share where most backends are above their marks and what they can do is not known yet. */
const UNMEASURED_SHARE = 0.5;

export interface AdmissionTimes {
  /** Since the previous evaluation, s. From half of an interval on it counts as one. */
  readonly elapsedSeconds: number;
  readonly intervalSeconds: number;
}

/**
 * The next share, from what queues now: a PI controller on the wait. Its time constant is 4 s, or two intervals with the
 * way to the sidecars where that is longer, since it cannot see its own effect sooner.
 */
export function admit(before: Admission, overload: Overload, times: AdmissionTimes): Admission {
  const rates = observeRates(before, overload, stepOf(times));
  if (rates.busy.seconds === 0) return unmeasured(rates, overload);
  const wait = waitOf(rates, overload);
  if (!before.engaged && !engages(wait, overload)) return disengaged(rates);
  const control = controlOf(before, wait, times);
  const { integral, calmSeconds, loneSeconds, timeConstantSeconds } = control;
  // an empty queue alone takes off much of it: what the waits have added up is needed when requests queue again
  const isSmall = control.share < LEAST && integral < LEAST;
  if (isSmall && !isMostlyQueued(overload)) {
    return { ...disengaged(rates), sparedUpTo: before.engaged ? sparedQueue(overload) : undefined };
  }
  const share = control.share < LEAST ? 0 : control.share;
  const mostSeconds = Math.min(share, before.share) < MOST ? 0 : before.mostSeconds + stepOf(times);
  // when even the most does not help, nothing is let in where the mark is passed
  const sparedUpTo = mostSeconds < timeConstantSeconds ? sparedQueue(overload) : undefined;
  return { share, integral, calmSeconds, loneSeconds, mostSeconds, engaged: true, sparedUpTo, ...rates };
}

export interface Control extends AdmissionControl {
  readonly share: number;
  readonly loneSeconds: number;
}

/** One step of the controller. */
export function controlOf(before: Admission, wait: Wait, times: AdmissionTimes): Control {
  const { intervalSeconds } = times;
  const elapsedSeconds = stepOf(times);
  const lone = wait.medianSeconds < CALM * TARGET_SECONDS && wait.seconds > TARGET_SECONDS;
  const loneSeconds = lone ? before.loneSeconds + elapsedSeconds : 0;
  const isLone = loneSeconds >= Math.max(LONE_SECONDS, LONE_INTERVALS * intervalSeconds);
  const waitSeconds = isLone ? Math.min(wait.seconds, wait.medianSeconds) : wait.seconds;
  const ratio = waitSeconds / TARGET_SECONDS;
  const calmSeconds = ratio < CALM ? before.calmSeconds + elapsedSeconds : 0;
  const kept = calmSeconds >= CALM_SECONDS ? Math.exp(-elapsedSeconds / FADING_SECONDS) : 1;
  const timeConstantSeconds = Math.max(4, 2 * (intervalSeconds + 0.1));
  const growth = Math.min(
    ((0.45 * elapsedSeconds) / timeConstantSeconds ** 2) * (ratio - 1),
    MOST_GROWTH * elapsedSeconds,
  );
  const integral = clamp(before.integral * kept + growth);
  const share = clamp(integral + (0.6 / timeConstantSeconds) * (ratio - 1));
  const previous = before.integral;
  return {
    elapsedSeconds,
    timeConstantSeconds,
    waitSeconds,
    calmSeconds,
    kept,
    previous,
    integral,
    share,
    loneSeconds,
  };
}

/** An evaluation waits for answers up to half of an interval; one that comes sooner than that is a reload's. */
function stepOf({ elapsedSeconds, intervalSeconds }: AdmissionTimes): number {
  return elapsedSeconds < intervalSeconds / 2 ? elapsedSeconds : intervalSeconds;
}

/**
 * Plimsoll begins in an overload: without a second sample there is no rate, but the queues alone say that marks would keep
 * most backends out. They go on, with half of the requests, until there is one.
 */
function unmeasured(rates: Known, overload: Overload): Admission {
  if (!isMostlyQueued(overload)) return disengaged(rates);
  return { ...disengaged(rates), share: UNMEASURED_SHARE, engaged: true, sparedUpTo: sparedQueue(overload) };
}

function sparedQueue({ medianQueued }: Overload): number {
  return Math.max(LEAST_SPARED, SPARED_MEDIANS * medianQueued);
}

/** Of all: those that do not answer at this moment are not out. */
function isMostlyMarked({ marked, members }: Overload): boolean {
  return 2 * marked > members;
}

/** By queues: nothing that is refused makes a limit of running requests go. */
function isMostlyQueued(overload: Overload): boolean {
  return isMostlyMarked(overload) && overload.medianQueued > 0;
}

/**
 * A wait that endangers the first token; or most of the backends above their marks, which would refuse everything a
 * moment later.
 */
function engages({ seconds, medianSeconds, engagedAbove }: Wait, overload: Overload): boolean {
  return Math.min(seconds, medianSeconds) > engagedAbove || isMostlyMarked(overload);
}

/** No share is refused any more; what is known of the engines stays. */
export function disengaged({ busy, all, lacksCounter }: Known): Admission {
  return { ...INITIAL_ADMISSION, busy, all, lacksCounter };
}

/** @param rates of at least some backend-seconds */
export function waitOf({ busy, all }: Rates, overload: Overload): Wait {
  const finishedPerSecond = Math.max(
    LEAST_FINISHED_PER_SECOND,
    busy.finished / busy.seconds,
    all.finished / all.seconds,
  );
  return {
    finishedPerSecond,
    seconds: overload.meanQueued / finishedPerSecond,
    medianSeconds: (2 * overload.medianQueued) / finishedPerSecond,
    // the fewer backends, the more the mean queue swings by itself
    engagedAbove: (0.7 + 2 / overload.backends) * SLO_SECONDS,
  };
}

type Rates = Pick<Admission, 'busy' | 'all'>;
type Known = Rates & Pick<Admission, 'lacksCounter'>;

/**
 * Idle runs say nothing of what the backends can do, so that an average over them would be far too low when the first
 * requests queue: only runs with a queue count, and they begin the average. But in a small group the first of
 * them may have finished little by chance: what all runs come to is a bound from below.
 */
function observeRates({ busy, all, lacksCounter }: Known, overload: Overload, elapsedSeconds: number): Known {
  if (overload.seconds === 0) return { busy, all, lacksCounter };
  const kept = Math.exp(-elapsedSeconds / RATE_SECONDS);
  return {
    busy: overload.meanQueued === 0 ? busy : added(busy, overload, kept),
    all: added(all, overload, kept),
    lacksCounter,
  };
}

function added({ finished, seconds }: Rate, overload: Overload, kept: number): Rate {
  return { finished: finished * kept + overload.finished, seconds: seconds * kept + overload.seconds };
}

function clamp(share: number): number {
  return Math.min(MOST, Math.max(0, share));
}

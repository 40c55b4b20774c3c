import type { Failure, Row } from './model.ts';
import type { Resources } from './observer.ts';

/** What came of a row, as measured; the verdict is not part of it. */
export interface Measured {
  /** Seconds that all took. */
  readonly seconds: number;
  readonly requests: number;
  /** Failures that are the fault's own, and those that would be ours. */
  readonly own: readonly Failure[];
  readonly ours: readonly Failure[];
  /** Seconds from the fault to when it was noticed; undefined: it was not. */
  readonly noticedSeconds: number | undefined;
  /** Seconds from the end of the fault to when all was as before; undefined: it was not. */
  readonly recoveredSeconds: number | undefined;
  /**
   * Share of the requests that sidecars sent to the targets from notice, where there is something to notice, to the end of
   * the fault; NaN: no requests.
   */
  readonly targetsShare: number;
  /** Requests that went there meanwhile. */
  readonly targetsRequests: number;
  /** The most that one backend got in any 3 s after the fault, over its fair share; NaN: nothing was answered. */
  readonly rush: number;
  readonly pushes: number;
  /** In the stretch where there were most of them: pushes beyond one for each evaluation, of which there is one per interval. */
  readonly surplusPushes: number;
  readonly before: Resources;
  readonly after: Resources | undefined;
  /** The lowest and the highest learned capacity at any look. */
  readonly capacities: readonly [number, number];
  /** What must hold throughout and did not: when first, seconds after the fault. */
  readonly brokenAt: number | undefined;
  /** The longest that this process, and so likely the others, had to wait for a processor. */
  readonly stallSeconds: number;
  /** How things stood at each look, for who wants to know why a rule was broken. */
  readonly trace: readonly Trace[];
  /** The end of the control plane's log. */
  readonly log: readonly string[];
  /** The control plane runs, as the process that the row left. */
  readonly alive: boolean;
}

/** A look in short; NaN: the control plane did not answer. */
export interface Trace {
  readonly at: number;
  readonly mode: string;
  /** Share that is refused. */
  readonly shed: number;
  readonly unhealthy: number;
  /** Of all backends together, as the control plane knows it. */
  readonly queued: number;
  readonly running: number;
  readonly streams: number;
  readonly pushes: number;
  /** Of each sidecar: the hosts that it holds, and those that are healthy. */
  readonly held: readonly (readonly [number, number])[];
}

export interface Played {
  readonly row: Row;
  readonly measured: Measured | undefined;
  /** Rules that were broken; none: the row holds. */
  readonly broken: readonly string[];
}

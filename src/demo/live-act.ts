import type { Arrival } from './arrivals.ts';
import type { LoadResult } from './load.ts';
import { quantile } from './quantile.ts';

const RECENT_MS = 5000;

/** A stretch of load with what is shown beside it. */
export interface Played {
  readonly title: string;
  readonly story: string;
  /** How long requests arrive. */
  readonly seconds: number;
  readonly arrivals: readonly Arrival[];
  /** Another one follows, for as long as nobody ends it. */
  readonly endless?: boolean;
}

/** The death of the control plane. */
export interface Kill {
  /** Milliseconds since the start of the act. */
  readonly atMs: number;
  /** p, the share that sidecars were told to refuse then and go on refusing; NaN: it is not known. */
  readonly shed: number;
}

/** What is known of an act while it runs. */
export class LiveAct {
  readonly act: Played;
  /** Requests go on arriving until no share of them is refused any more. */
  isInOvertime = false;
  /** undefined: the control plane was not killed. */
  kill: Kill | undefined;
  readonly #startedMs: number;
  readonly #firstTokens: number[] = [];
  readonly #answered = new Map<string, number>();
  readonly #shed: number[] = [];
  #noUpstream = 0;
  #failed = 0;

  constructor(act: Played, startedMs: number) {
    this.act = act;
    this.#startedMs = startedMs;
  }

  readonly onFirstToken = (firstTokenMs: number, backend: string | undefined): void => {
    this.#firstTokens.push(firstTokenMs);
    if (backend !== undefined) this.#answered.set(backend, (this.#answered.get(backend) ?? 0) + 1);
  };

  readonly onResult = ({ outcome }: LoadResult): void => {
    if (outcome.kind === 'no_upstream') this.#noUpstream++;
    else if (outcome.kind !== 'ok') this.#failed++;
  };

  /** What sidecars are told to refuse at this moment, 0..1. */
  noteShed(share: number): void {
    this.#shed.push(share);
  }

  /** What they were told while requests arrived, one for each time it was noted. */
  get shed(): readonly number[] {
    return this.#shed;
  }

  /** Milliseconds since its start. */
  age(nowMs: number): number {
    return nowMs - this.#startedMs;
  }

  /** Seconds in which requests still arrive; 0 when only answers are outstanding. */
  secondsLeft(nowMs: number): number {
    return Math.max(0, this.act.seconds - this.age(nowMs) / 1000);
  }

  /** Arrivals per second over the last five seconds of the act. */
  rate(nowMs: number): number {
    const until = this.age(nowMs);
    const from = Math.max(0, until - RECENT_MS);
    const recent = this.act.arrivals.filter(({ atMs }) => atMs > from && atMs <= until).length;
    return until > from ? (recent * 1000) / (until - from) : 0;
  }

  /** Over the act so far. */
  firstTokenMs(q: number): number {
    return quantile(this.#firstTokens, q);
  }

  get noUpstream(): number {
    return this.#noUpstream;
  }

  /** Requests that ended neither well nor as a proper 503. */
  get failed(): number {
    return this.#failed;
  }

  /** Share of the act's first tokens that came from this backend, 0..1. */
  shareOf(backend: string): number {
    return (this.#answered.get(backend) ?? 0) / Math.max(1, this.#firstTokens.length);
  }
}

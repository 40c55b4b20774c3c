/** What a cell of the routing bench is, and what it measured. Times in seconds unless named `…Ms`. */

export const ARMS = [
  'round-robin',
  'least-request',
  'orca',
  'adaptive-round-robin',
  /** The product's default: LeastRequest, Adaptive, Admission. */
  'adaptive',
  /** The default without Admission: marks alone. */
  'adaptive-marks',
  'linear',
] as const;
export type ArmName = (typeof ARMS)[number];

/** A stretch of offered load. */
export interface Stretch {
  readonly seconds: number;
  /** Over what the fleet as it stands at the beginning finishes when every queue is full. */
  readonly load: number;
  /** Bursts: this many times the rate during `seconds` of every `everySeconds`; the mean stays `load`. */
  readonly burst?: { readonly factor: number; readonly seconds: number; readonly everySeconds: number };
}

/** What happens to one backend at a time after the end of the warm-up. */
export interface Happening {
  readonly atSeconds: number;
  /** Index of the backend. */
  readonly backend: number;
  readonly change:
    | { readonly kind: 'slowness'; readonly factor: number }
    /** Every request is answered with a 500 within 1 ms, and the page says idle. */
    | { readonly kind: 'failing'; readonly on: boolean }
    /** `/metrics` answers 500; requests are served. */
    | { readonly kind: 'metrics-gone'; readonly gone: boolean }
    /** Comes into the server group, cold. */
    | { readonly kind: 'join' };
}

export interface Scenario {
  /** Lower case and dashes; part of a file name. */
  readonly name: string;
  readonly title: string;
  readonly backends: number;
  /** How long a request stays: about 1 s (8 slots) or about 8 s (128 slots, KV of 120,000 tokens). */
  readonly stay: 'short' | 'long';
  /** Factor on the step times of each backend from the start; missing ones are 1. */
  readonly slowness?: readonly number[];
  /** Dropped from what is counted; at the load of the first stretch. */
  readonly warmUpSeconds: number;
  readonly stretches: readonly Stretch[];
  readonly happenings?: readonly Happening[];
  /** `Interval`, default 1. Below 1 only `0.25`, `0.5`: `IntervalMilliseconds`. */
  readonly intervalSeconds?: number;
  /** Gauges and counters on the metrics page (and in ORCA reports) are this old. */
  readonly gaugeLagSeconds?: number;
  /** Share of requests that the client cancels half way through their output. */
  readonly cancelledShare?: number;
  /** Share of scrapes that fail (the page answers 500). */
  readonly failedScrapeShare?: number;
  /** A client sends a request again once, after `retry-after`. The goodput counts the first sending's time. */
  readonly retries?: boolean;
  /** Of this scenario; default all that the command line asks for. */
  readonly arms?: readonly ArmName[];
  readonly sidecars?: readonly number[];
}

export interface CellSpec {
  readonly scenario: Scenario;
  readonly arm: ArmName;
  readonly sidecars: number;
  readonly seed: number;
  /** On the offered rate: 1, lower when a disturbed cell is run again. */
  readonly rateFactor: number;
}

/** One offered request. Outcome: `ok` 200 and complete; `shed` 503 with `no available upstream`; `cancelled` by plan. */
export type OutcomeName = 'ok' | 'shed' | 'failed' | 'cancelled' | 'unfinished';

/** Columns instead of rows: the file of a cell stays small. Entry i of every column is of offered request i. */
export interface Requests {
  /** Planned arrival after the end of the warm-up, ms. */
  readonly atMs: readonly number[];
  readonly long: readonly (0 | 1)[];
  readonly outcome: readonly OutcomeName[];
  /** From the planned arrival to the first byte of the body of a 200; null: none came. */
  readonly firstTokenMs: readonly (number | null)[];
  readonly endMs: readonly (number | null)[];
  /** Index of the backend that answered; null: none. */
  readonly backend: readonly (number | null)[];
  /** 1: refused at first and sent again. */
  readonly retried?: readonly (0 | 1)[];
}

/** Read once a second over the counted time. */
export interface Spread {
  /** Coefficient of variation of the requests inside over the backends' capacity, mean over time. */
  readonly insideCv: number;
  /** Share of requests that each backend answered. */
  readonly served: readonly number[];
  /** Share that each backend had of the published weights of healthy ones, mean over the polls; missing: none were. */
  readonly published?: readonly number[];
}

export interface ControlPlaneFigures {
  readonly pushes: number;
  readonly healthFlips: number;
  /** From the start of the scrapes to the last sidecar's ACK, seconds; null: no such metric. */
  readonly delayP50: number | null;
  readonly delayP99: number | null;
  readonly cpuSeconds: number;
}

export interface CellResult {
  readonly scenario: string;
  readonly arm: ArmName;
  readonly sidecars: number;
  readonly seed: number;
  readonly rateFactor: number;
  readonly attempt: number;
  /** Counted time, s. */
  readonly seconds: number;
  readonly commit: string;
  /** Whether measured files differed from the commit; missing: it was not looked at. */
  readonly changed?: boolean;
  readonly cores: number;
  /** Why the cell does not count; empty: it does. */
  readonly disturbances: readonly string[];
  /** Lateness of the generator against the plan, p99, ms; and the most of the machine's processor time used, 0..1. */
  readonly lateP99Ms: number;
  readonly machineCpu: number;
  readonly requests: Requests;
  readonly spread: Spread;
  readonly envoyCpuSeconds: number;
  /** Processor time of the bench's own processes over the counted time. */
  readonly benchCpuSeconds?: { readonly backends: number; readonly generator: number };
  /** Why requests failed, and how many. */
  readonly failures?: Readonly<Record<string, number>>;
  readonly controlPlane: ControlPlaneFigures | null;
}

/** Good: the first token within this many seconds of the planned arrival. */
export const SLO_SECONDS = { chat: 1, long: 5 } as const;
/** A prompt of at least this many tokens has the SLO of long ones; per kind of stay. */
export const LONG_PROMPT_TOKENS = { short: 1500, long: 4000 } as const;

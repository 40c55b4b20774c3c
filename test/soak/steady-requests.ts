import { Pool } from 'undici';
import { BACKEND_HEADER } from '../../src/demo/backend.ts';
import { messageOf } from '../../src/runtime/errors.ts';
import type { Failure, LoadHandle } from '../faults/model.ts';

/** A failure with times of `performance.now`. */
export interface TimedFailure extends Pick<Failure, 'kind' | 'detail' | 'backend'> {
  readonly sentMs: number;
  readonly endedMs: number;
}

export interface RequestsOptions {
  /** `http://HOST:PORT` of each Envoy. */
  readonly origins: readonly string[];
  /** Of all together. */
  readonly perSecond: number;
  /** Whether a backend, `HOST:PORT`, may answer what was sent at this time. */
  readonly mayAnswer: (backend: string, sentMs: number) => boolean;
  readonly onFailure: (failure: TimedFailure) => void;
}

const TIMEOUT_MS = 5_000;
const TIMED_OUT = 'timed out';
const ABORTED = 'aborted by its caller';
const CONNECTIONS = 1_024;
const DETAIL = 160;
/** How often it is looked what is due. */
const LOOK_MS = 10;
/** The model that all backends serve. */
const MODEL = 'llama';

type Outcome = Pick<Failure, 'kind' | 'detail' | 'backend'> | 'ok' | 'aborted';

/** Sends requests whose answer is known, at a steady rate, until it is ended. */
export class SteadyRequests implements LoadHandle {
  readonly usualRate: number;
  rate: number;
  retries = 0;
  readonly #options: RequestsOptions;
  readonly #pools: readonly Pool[];
  readonly #timer: NodeJS.Timeout;
  readonly #inFlight = new Map<AbortController, Promise<void>>();
  #sent = 0;
  #ended = 0;
  #failed = 0;
  /** Requests that are due and not sent, a part of one included. */
  #due = 0;
  #lookedMs = performance.now();

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.usualRate = options.perSecond;
    this.rate = options.perSecond;
    this.#pools = options.origins.map(
      (origin) => new Pool(origin, { connections: CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 }),
    );
    this.#timer = setInterval(() => {
      this.#look();
    }, LOOK_MS);
  }

  /** Requests whose outcome is known; one that was aborted here has none. */
  get ended(): number {
    return this.#ended;
  }

  get failed(): number {
    return this.#failed;
  }

  abortAll(): void {
    for (const controller of this.#inFlight.keys()) controller.abort(ABORTED);
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#inFlight.values());
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }

  /** What could not be sent within a second, as this process had no time, is left out: no burst comes after it. */
  #look(): void {
    const nowMs = performance.now();
    this.#due = Math.min(this.rate, this.#due + (this.rate * (nowMs - this.#lookedMs)) / 1000);
    this.#lookedMs = nowMs;
    while (this.#due >= 1) {
      this.#due--;
      this.#sent++;
      const controller = new AbortController();
      const request = this.#send(this.#sent, controller).finally(() => this.#inFlight.delete(controller));
      this.#inFlight.set(controller, request);
    }
  }

  async #send(number: number, controller: AbortController): Promise<void> {
    const pool = this.#pools[number % this.#pools.length];
    if (pool === undefined) return;
    const sentMs = performance.now();
    const timer = setTimeout(() => {
      controller.abort(TIMED_OUT);
    }, TIMEOUT_MS);
    const { signal } = controller;
    let outcome = await this.#outcome(pool, String(number), sentMs, signal);
    for (let again = 0; again < this.retries && isRefused(outcome); again++)
      outcome = await this.#outcome(pool, String(number), sentMs, signal);
    clearTimeout(timer);
    if (outcome === 'aborted') return;
    this.#ended++;
    if (outcome === 'ok') return;
    this.#failed++;
    const detail = outcome.detail.slice(0, DETAIL);
    this.#options.onFailure({ ...outcome, detail, sentMs, endedMs: performance.now() });
  }

  async #outcome(pool: Pool, wanted: string, sentMs: number, signal: AbortSignal): Promise<Outcome> {
    let backend: string | undefined;
    try {
      const { statusCode, headers, body } = await pool.request({
        method: 'GET',
        path: `/echo/${wanted}`,
        signal,
      });
      backend = headers[BACKEND_HEADER]?.toString();
      return this.#judge({ statusCode, text: await body.text(), backend, wanted, sentMs });
    } catch (error) {
      if (signal.reason === ABORTED) return 'aborted';
      const kind = signal.reason === TIMED_OUT ? 'timeout' : 'broken';
      return { kind, detail: messageOf(error), backend };
    }
  }

  #judge(answer: {
    readonly statusCode: number;
    readonly text: string;
    readonly backend: string | undefined;
    readonly wanted: string;
    readonly sentMs: number;
  }): Outcome {
    const { statusCode, text, backend, wanted, sentMs } = answer;
    if (statusCode === 503) {
      const kind = text.trim() === 'no available upstream' ? 'shed' : 'unavailable';
      return { kind, detail: text, backend };
    }
    if (statusCode !== 200) return { kind: 'status', detail: `${statusCode} ${text}`, backend };
    if (text !== `${MODEL} ${wanted}`)
      return { kind: 'wrong', detail: `${backend} answered ${text} to ${wanted}`, backend };
    if (backend === undefined || !this.#options.mayAnswer(backend, sentMs))
      return { kind: 'wrong', detail: `${backend} answered, which is no server of the group`, backend };
    return 'ok';
  }
}

function isRefused(outcome: Outcome): boolean {
  return typeof outcome === 'object' && outcome.kind === 'shed';
}

import { Pool } from 'undici';
import { OUTPUT_TOKENS_HEADER, PROMPT_TOKENS_HEADER } from '../../src/demo/completion-request.ts';
import { createRandom, type Random } from '../../src/demo/random.ts';
import { BACKEND_HEADER } from '../../src/demo/backend.ts';
import { ECHO_HEADER, MODEL, MODEL_HEADER } from './hosts.ts';
import type { Failure, LoadHandle } from './model.ts';

const PROMPT_TOKENS = 50;
const FEWEST_TOKENS = 30;
const MOST_TOKENS = 60;
/** The longest that a client waits for its whole answer: some three times what it takes. */
const TIMEOUT_MS = 8_000;
/** Requests that are later than this are not sent. */
const MISSED_MS = 250;
/** Requests that ended longer ago than this are forgotten. */
const KEPT_MS = 240_000;
const TOKEN_BYTES = 'data: {"choices":[{"text":" sea"}]}\n\n'.length;
const END_BYTES = 'data: [DONE]\n\n'.length;

/** A request that is over; times in milliseconds of `performance.now()`. */
export interface Exchange {
  readonly sentMs: number;
  readonly endedMs: number;
  readonly backend: string | undefined;
  /** `ok`, `aborted` by its caller as told, or how it failed. */
  readonly outcome: 'ok' | 'aborted' | Failure['kind'];
  readonly detail: string;
}

type Outcome = Pick<Exchange, 'outcome' | 'detail' | 'backend'>;

/**
 * Requests at a steady rate, each at its time whatever became of those before, in turn to each origin. The answer to
 * each is known: its own number comes back, and as many tokens as were asked for, from the one model.
 */
export class Load implements LoadHandle {
  readonly usualRate: number;
  retries = 0;
  sidecars: number;
  #rate: number;
  readonly #pools: readonly Pool[];
  readonly #random: Random;
  readonly #inFlight = new Map<AbortController, number>();
  #over: Exchange[] = [];
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = performance.now();

  /**
   * Begins.
   * @param origins `http://HOST:PORT`
   * @param rate requests per second
   */
  constructor(origins: readonly string[], rate: number, seed: number) {
    this.usualRate = rate;
    this.#rate = rate;
    this.#random = createRandom(seed);
    this.#pools = origins.map(
      (origin) => new Pool(origin, { connections: 4096, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }),
    );
    this.sidecars = origins.length;
    this.#plan();
  }

  get rate(): number {
    return this.#rate;
  }

  set rate(rate: number) {
    clearTimeout(this.#timer);
    this.#rate = rate;
    this.#dueMs = performance.now();
    this.#plan();
  }

  /** Requests that were in flight at some moment between these times and are over. */
  inFlightBetween(fromMs: number, toMs: number): readonly Exchange[] {
    return this.#over.filter(({ sentMs, endedMs }) => endedMs >= fromMs && sentMs < toMs);
  }

  /** Whether every request that was sent before then is over. */
  isOver(beforeMs: number): boolean {
    return [...this.#inFlight.values()].every((sentMs) => sentMs >= beforeMs);
  }

  abortAll(): void {
    for (const controller of this.#inFlight.keys()) controller.abort('aborted');
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#rate = 0;
    this.abortAll();
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }

  #plan(): void {
    if (this.#rate <= 0) return;
    const nowMs = performance.now();
    // what a busy machine made this process miss would come as a rush that no fault caused
    if (nowMs - this.#dueMs > MISSED_MS) this.#dueMs = nowMs;
    this.#dueMs += (this.#random.exponential() / this.#rate) * 1000;
    const waitMs = Math.max(0, this.#dueMs - nowMs);
    this.#timer = setTimeout(() => {
      void this.#send();
      this.#plan();
    }, waitMs);
  }

  async #send(): Promise<void> {
    const number = this.#sent++;
    const pool = this.#pools[number % this.sidecars];
    if (pool === undefined) return;
    const controller = new AbortController();
    const sentMs = performance.now();
    this.#inFlight.set(controller, sentMs);
    const timer = setTimeout(() => {
      controller.abort('timeout');
    }, TIMEOUT_MS);
    let answer = await this.#exchange(pool, number, controller.signal);
    for (let again = this.retries; again > 0 && answer.outcome === 'shed'; again--)
      answer = await this.#exchange(pool, number, controller.signal);
    clearTimeout(timer);
    this.#inFlight.delete(controller);
    const endedMs = performance.now();
    this.#over.push({ sentMs, endedMs, ...answer });
    if (endedMs - (this.#over[0]?.endedMs ?? endedMs) > 2 * KEPT_MS)
      this.#over = this.#over.filter((one) => endedMs - one.endedMs < KEPT_MS);
  }

  async #exchange(pool: Pool, number: number, signal: AbortSignal): Promise<Outcome> {
    let backend: string | undefined;
    const over = (outcome: Exchange['outcome'], detail = ''): Outcome => ({ outcome, detail, backend });
    const tokens = FEWEST_TOKENS + (number % (MOST_TOKENS - FEWEST_TOKENS + 1));
    try {
      const { statusCode, headers, body } = await pool.request({
        method: 'POST',
        path: '/v1/completions',
        headers: {
          [PROMPT_TOKENS_HEADER]: String(PROMPT_TOKENS),
          [OUTPUT_TOKENS_HEADER]: String(tokens),
          [ECHO_HEADER]: String(number),
        },
        signal,
      });
      backend = headers[BACKEND_HEADER]?.toString();
      const text = await body.text();
      if (statusCode === 503) {
        const shed = headers['retry-after'] !== undefined && text.trim() === 'no available upstream';
        return over(shed ? 'shed' : 'unavailable', text.slice(0, 120));
      }
      if (statusCode !== 200) return over('status', `${statusCode} ${text.slice(0, 120)}`);
      const { [ECHO_HEADER]: echo, [MODEL_HEADER]: model } = headers;
      if (model !== MODEL) return over('wrong', `an answer of the model ${String(model)}`);
      if (echo !== String(number)) return over('wrong', `the answer to request ${String(echo)}`);
      if (text.length !== tokens * TOKEN_BYTES + END_BYTES)
        return over('wrong', `${text.length} bytes for ${tokens} tokens`);
      return over('ok');
    } catch (error) {
      if (signal.aborted) return over(signal.reason === 'timeout' ? 'timeout' : 'aborted');
      return over('broken', String((error as { code?: unknown }).code ?? error));
    }
  }
}

import { Pool } from 'undici';
import { type Clock, sleep, systemClock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Arrival } from './arrivals.ts';
import { BACKEND_HEADER, REACHED } from './backend.ts';
import { OUTPUT_TOKENS_HEADER, PROMPT_TOKENS_HEADER, TELL_AT_TOKEN_HEADER } from './completion-request.ts';

/** A request and what its client does with it. */
export interface Sending extends Arrival {
  /** `http://HOST:PORT`; default: that of the load. */
  readonly origin?: string;
  /** The client goes away when half of the output is generated. */
  readonly leavesHalfWay?: boolean;
}

const DEFAULT_TIMEOUT_SECONDS = 120;

export type Outcome =
  /** 200 and a complete body. */
  | { readonly kind: 'ok' }
  /** 503, the body `no available upstream` and a `retry-after`: shed, as it should be when all are saturated. */
  | { readonly kind: 'no_upstream'; readonly retryAfter: string }
  /** Any other answer. */
  | { readonly kind: 'status'; readonly status: number; readonly body: string }
  | { readonly kind: 'refused' | 'reset' | 'timeout' | 'error'; readonly message: string }
  /** The body ended early. */
  | { readonly kind: 'cut'; readonly message: string }
  /** The client went away half way, as planned. */
  | { readonly kind: 'left' }
  /** Not sent: as many as allowed were in flight. */
  | { readonly kind: 'overrun' }
  /** The load was aborted before the answer was complete. */
  | { readonly kind: 'aborted' };

export interface LoadResult {
  readonly arrival: Sending;
  readonly outcome: Outcome;
  /** The backend that answered, by its own word. */
  readonly backend: string | undefined;
  /** From the planned arrival to the first byte of a 200's body. */
  readonly firstTokenMs: number | undefined;
  /** From the planned arrival to the end of the answer, or to the failure. */
  readonly endMs: number;
  /** How much after the planned arrival it was sent. */
  readonly lateMs: number;
  /** Whether it was refused for want of an upstream and sent again. */
  readonly retried: boolean;
}

export interface LoadOptions {
  /** `http://HOST:PORT` */
  readonly origin: string;
  /** In order of time. */
  readonly arrivals: readonly Sending[];
  /** Requests beyond this many in flight are not sent, and counted as `overrun`. Default 4096. */
  readonly mostInFlight?: number;
  /** Seconds that one request may take. Default 120. */
  readonly timeoutSeconds?: number;
  /** Whether a request that is refused for want of an upstream is sent once more, after `retry-after`. Default: not. */
  readonly retries?: boolean;
  /** Ends the load at once; what is in flight ends as `aborted`, what was not sent gives no result. */
  readonly signal?: AbortSignal;
  /** Ends the sending; what is in flight is still answered. */
  readonly enough?: AbortSignal;
  /** Called at the first byte of each 200's body, with the milliseconds since the planned arrival. */
  readonly onFirstToken?: (firstTokenMs: number, backend: string | undefined) => void;
  readonly onResult?: (result: LoadResult) => void;
  readonly clock?: Clock;
}

/** Sends each arrival at its time whatever became of those before it; resolves when every answer is complete. */
export async function runLoad(options: LoadOptions): Promise<readonly LoadResult[]> {
  const { arrivals, mostInFlight = 4096, clock = systemClock, signal, enough } = options;
  const over = AbortSignal.any([signal, enough].filter((one) => one !== undefined));
  const pools = new Pools(options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS, mostInFlight);
  const startedMs = clock.now();
  const results: LoadResult[] = [];
  const inFlight = new Map<Exchange, Promise<void>>();
  const finish = (result: LoadResult): void => {
    results.push(result);
    options.onResult?.(result);
  };
  const onAbort = (): void => {
    for (const exchange of inFlight.keys()) exchange.abort();
  };
  options.signal?.addEventListener('abort', onAbort, { once: true });
  for (const arrival of arrivals) {
    const waitMs = startedMs + arrival.atMs - clock.now();
    if (waitMs > 0) await sleep(clock, waitMs, over);
    if (over.aborted) break;
    const exchange = new Exchange(arrival, startedMs + arrival.atMs, clock, options);
    if (inFlight.size >= mostInFlight) {
      finish(exchange.result({ kind: 'overrun' }));
      continue;
    }
    const sent = exchange.send(pools.of(arrival.origin ?? options.origin)).then((result) => {
      inFlight.delete(exchange);
      finish(result);
    });
    inFlight.set(exchange, sent);
  }
  await Promise.all(inFlight.values());
  options.signal?.removeEventListener('abort', onAbort);
  await pools.destroy();
  return results;
}

/** Connections to each origin. */
class Pools {
  readonly #options: Pool.Options;
  readonly #pools = new Map<string, Pool>();

  constructor(timeoutSeconds: number, connections: number) {
    const connectTimeout = timeoutSeconds * 1000;
    this.#options = { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, connectTimeout };
  }

  of(origin: string): Pool {
    const pool = this.#pools.get(origin) ?? new Pool(origin, this.#options);
    this.#pools.set(origin, pool);
    return pool;
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }
}

/** One request and its answer. */
class Exchange {
  readonly #arrival: Sending;
  readonly #plannedMs: number;
  readonly #lateMs: number;
  readonly #clock: Clock;
  readonly #options: LoadOptions;
  readonly #abort = new AbortController();
  #backend: string | undefined;
  #firstTokenMs: number | undefined;
  #retried = false;

  constructor(arrival: Sending, plannedMs: number, clock: Clock, options: LoadOptions) {
    this.#arrival = arrival;
    this.#plannedMs = plannedMs;
    this.#clock = clock;
    this.#options = options;
    this.#lateMs = clock.now() - plannedMs;
  }

  result(outcome: Outcome): LoadResult {
    return {
      arrival: this.#arrival,
      outcome,
      backend: this.#backend,
      firstTokenMs: this.#firstTokenMs,
      endMs: this.#clock.now() - this.#plannedMs,
      lateMs: this.#lateMs,
      retried: this.#retried,
    };
  }

  abort(): void {
    this.#abort.abort('aborted');
  }

  async send(pool: Pool): Promise<LoadResult> {
    const { signal } = this.#abort;
    const timeoutMs = (this.#options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
    const cancelTimeout = this.#clock.schedule(timeoutMs, () => {
      this.#abort.abort('timeout');
    });
    try {
      return this.result(await this.#exchangeAgain(await this.#exchange(pool, signal), pool, signal));
    } catch (error) {
      return this.result(signal.aborted ? abortOutcome(signal) : this.#failure(error));
    } finally {
      cancelTimeout();
    }
  }

  /** Once more after `retry-after`, where the client does that. */
  async #exchangeAgain(first: Outcome, pool: Pool, signal: AbortSignal): Promise<Outcome> {
    if (this.#options.retries !== true || first.kind !== 'no_upstream') return first;
    this.#retried = true;
    await sleep(this.#clock, Number(first.retryAfter) * 1000, signal);
    return this.#exchange(pool, signal);
  }

  async #exchange(pool: Pool, signal: AbortSignal): Promise<Outcome> {
    const { promptTokens, outputTokens, leavesHalfWay } = this.#arrival;
    const { statusCode, headers, body } = await pool.request({
      method: 'POST',
      path: '/v1/completions',
      headers: {
        [PROMPT_TOKENS_HEADER]: String(promptTokens),
        [OUTPUT_TOKENS_HEADER]: String(outputTokens),
        ...(leavesHalfWay ? { [TELL_AT_TOKEN_HEADER]: String(Math.ceil(outputTokens / 2)) } : {}),
      },
      signal,
    });
    this.#backend = headers[BACKEND_HEADER]?.toString();
    if (statusCode !== 200) {
      const text = await body.text();
      const retryAfter = headers['retry-after']?.toString();
      return statusCode === 503 && retryAfter !== undefined && text.trim() === 'no available upstream'
        ? { kind: 'no_upstream', retryAfter }
        : { kind: 'status', status: statusCode, body: text.slice(0, 200) };
    }
    for await (const chunk of body as AsyncIterable<Buffer>) {
      this.#noteFirstToken();
      if (leavesHalfWay === true && chunk.includes(REACHED)) return { kind: 'left' };
    }
    return { kind: 'ok' };
  }

  #noteFirstToken(): void {
    if (this.#firstTokenMs !== undefined) return;
    this.#firstTokenMs = this.#clock.now() - this.#plannedMs;
    this.#options.onFirstToken?.(this.#firstTokenMs, this.#backend);
  }

  #failure(error: unknown): Outcome {
    const code = (error as { code?: unknown }).code;
    const message = messageOf(error);
    if (this.#firstTokenMs !== undefined) return { kind: 'cut', message };
    if (code === 'ECONNREFUSED') return { kind: 'refused', message };
    if (code === 'UND_ERR_CONNECT_TIMEOUT') return { kind: 'timeout', message };
    if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
      return { kind: 'reset', message };
    return { kind: 'error', message };
  }
}

function abortOutcome(signal: AbortSignal): Outcome {
  return signal.reason === 'timeout'
    ? { kind: 'timeout', message: 'no complete answer' }
    : { kind: 'aborted' };
}

import { Pool } from 'undici';
import { type Clock, sleep, systemClock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Arrival } from './arrivals.ts';
import { BACKEND_HEADER } from './backend.ts';
import { OUTPUT_TOKENS_HEADER, PROMPT_TOKENS_HEADER } from './completion-request.ts';

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
  /** Not sent: as many as allowed were in flight. */
  | { readonly kind: 'overrun' }
  /** The load was aborted before the answer was complete. */
  | { readonly kind: 'aborted' };

export interface LoadResult {
  readonly arrival: Arrival;
  readonly outcome: Outcome;
  /** The backend that answered, by its own word. */
  readonly backend: string | undefined;
  /** From the planned arrival to the first byte of a 200's body. */
  readonly firstTokenMs: number | undefined;
  /** From the planned arrival to the end of the answer, or to the failure. */
  readonly endMs: number;
}

export interface LoadOptions {
  /** `http://HOST:PORT` */
  readonly origin: string;
  /** In order of time. */
  readonly arrivals: readonly Arrival[];
  /** Requests beyond this many in flight are not sent, and counted as `overrun`. Default 4096. */
  readonly mostInFlight?: number;
  /** Seconds that one request may take. Default 120. */
  readonly timeoutSeconds?: number;
  /** Ends the load at once; what is in flight ends as `aborted`, what was not sent gives no result. */
  readonly signal?: AbortSignal;
  /** Called at the first byte of each 200's body, with the milliseconds since the planned arrival. */
  readonly onFirstToken?: (firstTokenMs: number, backend: string | undefined) => void;
  readonly onResult?: (result: LoadResult) => void;
  readonly clock?: Clock;
}

/** Sends each arrival at its time whatever became of those before it; resolves when every answer is complete. */
export async function runLoad(options: LoadOptions): Promise<readonly LoadResult[]> {
  const { arrivals, origin, mostInFlight = 4096, timeoutSeconds = 120, clock = systemClock } = options;
  const pool = new Pool(origin, {
    connections: mostInFlight,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: timeoutSeconds * 1000,
  });
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
    if (waitMs > 0) await sleep(clock, waitMs, options.signal);
    if (options.signal?.aborted) break;
    const exchange = new Exchange(arrival, startedMs + arrival.atMs, clock, options.onFirstToken);
    if (inFlight.size >= mostInFlight) {
      finish(exchange.result({ kind: 'overrun' }));
      continue;
    }
    const sent = exchange.send(pool, timeoutSeconds).then((result) => {
      inFlight.delete(exchange);
      finish(result);
    });
    inFlight.set(exchange, sent);
  }
  await Promise.all(inFlight.values());
  options.signal?.removeEventListener('abort', onAbort);
  await pool.destroy();
  return results;
}

/** One request and its answer. */
class Exchange {
  readonly #arrival: Arrival;
  readonly #plannedMs: number;
  readonly #clock: Clock;
  readonly #onFirstToken: LoadOptions['onFirstToken'];
  readonly #abort = new AbortController();
  #backend: string | undefined;
  #firstTokenMs: number | undefined;

  constructor(arrival: Arrival, plannedMs: number, clock: Clock, onFirstToken: LoadOptions['onFirstToken']) {
    this.#arrival = arrival;
    this.#plannedMs = plannedMs;
    this.#clock = clock;
    this.#onFirstToken = onFirstToken;
  }

  result(outcome: Outcome): LoadResult {
    const endMs = this.#clock.now() - this.#plannedMs;
    return {
      arrival: this.#arrival,
      outcome,
      backend: this.#backend,
      firstTokenMs: this.#firstTokenMs,
      endMs,
    };
  }

  abort(): void {
    this.#abort.abort('aborted');
  }

  async send(pool: Pool, timeoutSeconds: number): Promise<LoadResult> {
    const { signal } = this.#abort;
    const cancelTimeout = this.#clock.schedule(timeoutSeconds * 1000, () => {
      this.#abort.abort('timeout');
    });
    try {
      return this.result(await this.#exchange(pool, signal));
    } catch (error) {
      return this.result(signal.aborted ? abortOutcome(signal) : this.#failure(error));
    } finally {
      cancelTimeout();
    }
  }

  async #exchange(pool: Pool, signal: AbortSignal): Promise<Outcome> {
    const { statusCode, headers, body } = await pool.request({
      method: 'POST',
      path: '/v1/completions',
      headers: {
        [PROMPT_TOKENS_HEADER]: String(this.#arrival.promptTokens),
        [OUTPUT_TOKENS_HEADER]: String(this.#arrival.outputTokens),
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
    for await (const _chunk of body) {
      if (this.#firstTokenMs !== undefined) continue;
      this.#firstTokenMs = this.#clock.now() - this.#plannedMs;
      this.#onFirstToken?.(this.#firstTokenMs, this.#backend);
    }
    return { kind: 'ok' };
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

import { status } from '@grpc/grpc-js';
import type { XdsLimits } from '../core/model/configuration.ts';
import { TokenBucket } from '../runtime/token-bucket.ts';
import type { Refusal } from './refusal.ts';

/** For each stream that a client may have: what sidecars that follow ten pushes a second need, twice. */
const REQUESTS_PER_STREAM = 20;

/** So many names that do not exist take as long as a request. */
const INVENTED_NAMES_PER_REQUEST = 20;

/** For each stream that a client may have: what its acknowledgements need where it names a thousand groups in each. */
const BYTES_PER_STREAM = 32_768;

/** At once: a little more than the first request of an Envoy, which is its longest. */
const BYTES_AT_ONCE_PER_STREAM = 65_536;

/** Largest requests that a client may send in a second, however few streams it may have. */
const LARGEST_REQUESTS = 4;

/** What all streams of one client together may ask in a second: each within its own limits, many would take everything. */
export class ClientMeter {
  readonly #requestsPerSecond: number;
  readonly #bytesPerSecond: number;
  readonly #requests: TokenBucket;
  readonly #bytes: TokenBucket;

  constructor(limits: XdsLimits, nowMs: number) {
    const { streamsPerIdentity, requestsPerSecond, messageBytes } = limits;
    this.#requestsPerSecond = Math.max(requestsPerSecond, REQUESTS_PER_STREAM * streamsPerIdentity);
    const largest = LARGEST_REQUESTS * messageBytes;
    this.#bytesPerSecond = Math.max(largest, BYTES_PER_STREAM * streamsPerIdentity);
    const atOnce = Math.max(largest, BYTES_AT_ONCE_PER_STREAM * streamsPerIdentity);
    this.#requests = new TokenBucket(this.#requestsPerSecond, nowMs);
    this.#bytes = new TokenBucket(this.#bytesPerSecond, nowMs, atOnce);
  }

  /** A request of so many bytes came. @returns undefined: it may be looked at. */
  take(bytes: number, nowMs: number): Refusal | undefined {
    if (!this.#requests.take(nowMs)) return this.#tooMany();
    if (this.#bytes.take(nowMs, bytes)) return undefined;
    return exhausted('MessageBytes', `more than ${this.#bytesPerSecond} bytes of this client`);
  }

  /** A request named so many that do not exist. @returns undefined: it may be answered. */
  takeInvented(names: number, nowMs: number): Refusal | undefined {
    return this.#requests.take(nowMs, names / INVENTED_NAMES_PER_REQUEST) ? undefined : this.#tooMany();
  }

  /** Whether it is as if nothing had ever come. */
  isFull(nowMs: number): boolean {
    return this.#requests.isFull(nowMs) && this.#bytes.isFull(nowMs);
  }

  #tooMany(): Refusal {
    return exhausted('RequestsPerSecond', `more than ${this.#requestsPerSecond} requests of this client`);
  }
}

function exhausted(limit: 'RequestsPerSecond' | 'MessageBytes', what: string): Refusal {
  const details = `Xds.Limits.${limit}: ${what} in a second`;
  return { limit, code: status.RESOURCE_EXHAUSTED, details };
}

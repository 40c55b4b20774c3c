import { status } from '@grpc/grpc-js';
import type { XdsLimits } from '../core/model/configuration.ts';
import { TokenBucket } from '../runtime/token-bucket.ts';
import type { ClientMeter } from './client-meter.ts';
import type { Refusal } from './refusal.ts';

/** What one stream may ask: of what size, and how often. */
export class RequestMeter {
  readonly #limits: XdsLimits;
  readonly #requests: TokenBucket;
  readonly #client: ClientMeter;

  constructor(limits: XdsLimits, client: ClientMeter, nowMs: number) {
    this.#limits = limits;
    this.#requests = new TokenBucket(limits.requestsPerSecond, nowMs);
    this.#client = client;
  }

  /** A request of so many bytes came. @returns undefined: it may be looked at. */
  take(bytes: number, nowMs: number): Refusal | undefined {
    const { messageBytes, requestsPerSecond } = this.#limits;
    if (bytes > messageBytes) {
      const details = `Xds.Limits.MessageBytes: a request of ${bytes} bytes; at most ${messageBytes}`;
      return { limit: 'MessageBytes', code: status.RESOURCE_EXHAUSTED, details };
    }
    if (this.#requests.take(nowMs)) return this.#client.take(bytes, nowMs);
    const details = `Xds.Limits.RequestsPerSecond: more than ${requestsPerSecond} requests in a second`;
    return { limit: 'RequestsPerSecond', code: status.RESOURCE_EXHAUSTED, details };
  }

  /** A request named so many that do not exist. @returns undefined: it may be answered. */
  takeInvented(names: number, nowMs: number): Refusal | undefined {
    return names === 0 ? undefined : this.#client.takeInvented(names, nowMs);
  }
}

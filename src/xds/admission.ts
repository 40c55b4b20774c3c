import { status } from '@grpc/grpc-js';
import type { XdsLimits } from '../core/model/configuration.ts';
import { TokenBucket } from '../runtime/token-bucket.ts';
import { ClientMeter } from './client-meter.ts';
import type { LimitName, Refusal } from './refusal.ts';

/** Of the new streams of all clients, and of connections, one client may have this part; besides those that it opens at once. */
const SHARE = 10;

interface Counts {
  streams: number;
  connections: number;
  readonly newStreams: TokenBucket;
  readonly newConnections: TokenBucket;
  readonly meter: ClientMeter;
}

export type Admitted =
  /** `closeStream` must follow one day. */
  | { readonly kind: 'admitted'; readonly meter: ClientMeter }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** What all clients together, and each for itself, have open: who is let in. Clients are told by their keys. */
export class Admission {
  readonly #limits: XdsLimits;
  readonly #now: () => number;
  readonly #perSecond: number;
  readonly #newStreams: TokenBucket;
  readonly #clients = new Map<string, Counts>();
  #streams = 0;

  /** @param now monotonic milliseconds. */
  constructor(limits: XdsLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#perSecond = Math.max(1, Math.floor(limits.newStreamsPerSecond / SHARE));
    this.#newStreams = new TokenBucket(limits.newStreamsPerSecond, now());
  }

  /** Clients that are remembered: those with anything open, and for a while those that had. */
  get clients(): number {
    return this.#clients.size;
  }

  /**
   * Counts are looked at before rates, and the rate of one client before that of all: a client that is refused takes
   * nothing from the others, and one that is refused for their sake loses nothing of its own.
   */
  openStream(client: string): Admitted {
    const { streams, streamsPerIdentity, newStreamsPerSecond } = this.#limits;
    const nowMs = this.#now();
    if (this.#streams >= streams) return refused('Streams', `${streams} streams are open`);
    const of = this.#of(client);
    if (of.streams >= streamsPerIdentity) {
      return refused('StreamsPerIdentity', `${streamsPerIdentity} streams of this client are open`);
    }
    if (!of.newStreams.has(nowMs)) {
      return refused('NewStreamsPerSecond', `${this.#perSecond} new streams of this client in one second`);
    }
    if (!this.#newStreams.take(nowMs)) {
      return refused('NewStreamsPerSecond', `${newStreamsPerSecond} new streams in one second`);
    }
    of.newStreams.take(nowMs);
    this.#streams++;
    of.streams++;
    return { kind: 'admitted', meter: of.meter };
  }

  closeStream(client: string): void {
    this.#streams--;
    this.#of(client).streams--;
  }

  /**
   * A connection has been made; who is at its other end may not be known yet.
   * @param client by its address.
   * @returns undefined: it may go on.
   */
  connect(client: string): Refusal | undefined {
    if (this.#of(client).newConnections.take(this.#now())) return undefined;
    return exhausted(
      'NewStreamsPerSecond',
      `${this.#perSecond} new connections of this address in one second`,
    );
  }

  /**
   * It is known whose connection it is.
   * @returns undefined: let in; {@link closeConnection} must follow one day.
   */
  openConnection(client: string): Refusal | undefined {
    const of = this.#of(client);
    const { streamsPerIdentity } = this.#limits;
    if (of.connections >= streamsPerIdentity) {
      return exhausted('StreamsPerIdentity', `${streamsPerIdentity} connections of this client are open`);
    }
    of.connections++;
    return undefined;
  }

  closeConnection(client: string): void {
    this.#of(client).connections--;
  }

  /** To be called now and then: forgets clients that have nothing, and had nothing for long enough. */
  sweep(): void {
    const nowMs = this.#now();
    for (const [client, { streams, connections, newStreams, newConnections, meter }] of this.#clients) {
      const buckets = [newStreams, newConnections, meter];
      if (streams + connections === 0 && buckets.every((each) => each.isFull(nowMs))) {
        this.#clients.delete(client);
      }
    }
  }

  #of(client: string): Counts {
    let of = this.#clients.get(client);
    if (of === undefined) {
      of = this.#nothing();
      this.#clients.set(client, of);
    }
    return of;
  }

  #nothing(): Counts {
    const { streamsPerIdentity, newStreamsPerSecond } = this.#limits;
    const nowMs = this.#now();
    const connections = Math.max(streamsPerIdentity, newStreamsPerSecond);
    return {
      streams: 0,
      connections: 0,
      newStreams: new TokenBucket(this.#perSecond, nowMs, streamsPerIdentity),
      newConnections: new TokenBucket(this.#perSecond, nowMs, connections),
      meter: new ClientMeter(this.#limits, nowMs),
    };
  }
}

function refused(limit: LimitName, what: string): Admitted {
  return { kind: 'refused', refusal: exhausted(limit, what) };
}

function exhausted(limit: LimitName, what: string): Refusal {
  return { limit, code: status.RESOURCE_EXHAUSTED, details: `Xds.Limits.${limit}: ${what}` };
}

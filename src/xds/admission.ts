import { status } from '@grpc/grpc-js';
import type { XdsLimits } from '../core/model.ts';
import { TokenBucket } from '../runtime/token-bucket.ts';
import type { LimitName, Refusal } from './refusal.ts';

/** A connection without a stream is of no use to anyone for longer. */
export const IDLE_MS = 60_000;

interface Client {
  streams: number;
  connections: number;
  readonly newStreams: TokenBucket;
}

interface Connection {
  readonly client: string;
  streams: number;
  /** When its last stream ended, or it was opened. */
  idleSinceMs: number;
}

/**
 * What all clients together, and each for itself, have open: who is let in. A client is whatever its streams and
 * connections have in common, told as a text; a peer is what tells a connection from all others.
 */
export class Admission {
  readonly #limits: XdsLimits;
  readonly #now: () => number;
  readonly #newStreams: TokenBucket;
  readonly #clients = new Map<string, Client>();
  readonly #connections = new Map<string, Connection>();
  #streams = 0;

  /** @param now monotonic milliseconds. */
  constructor(limits: XdsLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#newStreams = new TokenBucket(limits.newStreamsPerSecond, now());
  }

  /** Clients that are remembered: those with anything open, and for a moment those that had. */
  get clients(): number {
    return this.#clients.size;
  }

  /**
   * Counts are looked at before rates, and the rate of one client before that of all: a client that is refused takes
   * nothing from the others.
   * @returns undefined: let in; {@link closeStream} must follow one day.
   */
  openStream(peer: string, client: string): Refusal | undefined {
    const { streams, streamsPerIdentity, newStreamsPerSecond } = this.#limits;
    const nowMs = this.#now();
    if (this.#streams >= streams) return exhausted('Streams', streams, 'streams are open');
    const of = this.#client(client);
    if (of.streams >= streamsPerIdentity) {
      return exhausted('StreamsPerIdentity', streamsPerIdentity, 'streams of this client are open');
    }
    if (!of.newStreams.take(nowMs)) {
      return exhausted('StreamsPerIdentity', streamsPerIdentity, 'streams of this client in one second');
    }
    if (!this.#newStreams.take(nowMs)) {
      return exhausted('NewStreamsPerSecond', newStreamsPerSecond, 'new streams in one second');
    }
    this.#streams++;
    of.streams++;
    const connection = this.#connections.get(peer);
    if (connection !== undefined) connection.streams++;
    return undefined;
  }

  closeStream(peer: string, client: string): void {
    this.#streams--;
    this.#client(client).streams--;
    const connection = this.#connections.get(peer);
    if (connection === undefined) return;
    connection.streams--;
    connection.idleSinceMs = this.#now();
  }

  /**
   * @param client as far as it is known before the connection has said anything.
   * @returns undefined: let in; {@link closeConnection} must follow one day.
   */
  openConnection(peer: string, client: string): Refusal | undefined {
    this.closeConnection(peer);
    const of = this.#client(client);
    const { streamsPerIdentity } = this.#limits;
    if (of.connections >= streamsPerIdentity) {
      return exhausted('StreamsPerIdentity', streamsPerIdentity, 'connections of this client are open');
    }
    of.connections++;
    this.#connections.set(peer, { client, streams: 0, idleSinceMs: this.#now() });
    return undefined;
  }

  /**
   * The client of an open connection without streams has said who it is: the connection counts as `client`'s.
   * @returns a refusal: it must be closed.
   */
  identifyConnection(peer: string, client: string): Refusal | undefined {
    return this.#connections.has(peer) ? this.openConnection(peer, client) : undefined;
  }

  /** Harmless for a connection that has not been let in. */
  closeConnection(peer: string): void {
    const connection = this.#connections.get(peer);
    if (connection === undefined) return;
    this.#connections.delete(peer);
    this.#client(connection.client).connections--;
  }

  /**
   * To be called now and then: forgets clients that have had nothing for a second.
   * @returns the peers of connections that have had no stream for {@link IDLE_MS}: they should be closed.
   */
  sweep(): readonly string[] {
    const nowMs = this.#now();
    for (const [client, { streams, connections, newStreams }] of this.#clients) {
      if (streams === 0 && connections === 0 && newStreams.isFull(nowMs)) this.#clients.delete(client);
    }
    const idle: string[] = [];
    for (const [peer, { streams, idleSinceMs }] of this.#connections) {
      if (streams === 0 && nowMs - idleSinceMs > IDLE_MS) idle.push(peer);
    }
    return idle;
  }

  #client(client: string): Client {
    let of = this.#clients.get(client);
    if (of === undefined) {
      const newStreams = new TokenBucket(this.#limits.streamsPerIdentity, this.#now());
      of = { streams: 0, connections: 0, newStreams };
      this.#clients.set(client, of);
    }
    return of;
  }
}

function exhausted(limit: LimitName, value: number, what: string): Refusal {
  return { limit, code: status.RESOURCE_EXHAUSTED, details: `Xds.Limits.${limit}: ${value} ${what}` };
}

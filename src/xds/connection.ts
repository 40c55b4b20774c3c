import type { Socket } from 'node:net';
import type { Client } from './client.ts';
import type { Identity } from './identity.ts';
import { Intake } from './intake.ts';

/** A stream that has been ended here and that the client may keep open. */
export interface Ended {
  /** Whether HTTP/2 still has it. */
  readonly isOpen: () => boolean;
  /** Is called once, when HTTP/2 has it no more. */
  readonly closed: () => void;
}

interface Lingering extends Ended {
  readonly sinceMs: number;
}

const ENDED_ROOM = 256;

/** One connection: its socket, what came of it, and what is open on it. */
export class Connection {
  /** The remote `address:port`. */
  readonly peer: string;
  readonly #socket: Socket;
  #intake: Intake;
  #client: Client | undefined;
  #identities: readonly Identity[] = [];
  #streams = 0;
  /** When its last stream ended, or it was opened. */
  #idleSinceMs: number;
  /** Oldest first. */
  #ended: Lingering[] = [];
  /** Those that have closed are forgotten when there are so many. */
  #endedRoom = ENDED_ROOM;
  /** A stream has gone: when none is left, nothing is kept of what came. */
  #streamGone = false;
  #closed = false;

  constructor(socket: Socket, nowMs: number) {
    this.#socket = socket;
    this.peer = peerOf(socket);
    this.#intake = new Intake(socket.bytesRead, nowMs);
    this.#idleSinceMs = nowMs;
  }

  /** Whose it is; undefined: not known yet. */
  get client(): Client | undefined {
    return this.#client;
  }

  /** Who the client is by its certificate; empty: it has none. */
  get identities(): readonly Identity[] {
    return this.#identities;
  }

  /** What came so far, to identify the client, is not counted against it. */
  identify(client: Client, identities: readonly Identity[], nowMs: number): void {
    this.#client = client;
    this.#identities = identities;
    this.#intake = new Intake(this.#socket.bytesRead, nowMs);
  }

  /** A whole message of so many bytes came. */
  received(bytes: number): void {
    this.#intake.received(bytes);
  }

  sent(bytes: number): void {
    this.#intake.sent(bytes);
  }

  openStream(): void {
    this.#streams++;
  }

  closeStream(nowMs: number): void {
    this.#streams--;
    this.#idleSinceMs = nowMs;
    this.#streamGone = true;
  }

  /** Keeps an eye on a stream that has been ended here. */
  linger(ended: Ended, nowMs: number): void {
    if (this.#closed) {
      ended.closed();
      return;
    }
    this.#ended.push({ ...ended, sinceMs: nowMs });
    if (this.#ended.length < this.#endedRoom) return;
    this.#forgetClosed();
    this.#endedRoom = Math.max(ENDED_ROOM, 2 * this.#ended.length);
  }

  /** To be called now and then. */
  look(nowMs: number): void {
    this.#intake.look(this.#socket.bytesRead, nowMs);
    if (this.#ended.length > 0) this.#forgetClosed();
    if (!this.#streamGone || this.#streams + this.#ended.length > 0) return;
    this.#streamGone = false;
    this.#intake.settle();
  }

  /** As of the last look, see {@link Intake}. */
  get owedBytes(): number {
    return this.#intake.owedBytes;
  }

  /** When the oldest of what is kept of half a message may have come, or a stream was ended that is still open. */
  get unfinishedSinceMs(): number | undefined {
    return earliest(this.#intake.owingSinceMs, this.#ended[0]?.sinceMs);
  }

  /** Since when there is no stream on it; undefined: there is one. */
  get idleSinceMs(): number | undefined {
    return this.#streams === 0 ? this.#idleSinceMs : undefined;
  }

  /** Not from within an event of a stream or connection: with TLS on top Node would crash. */
  abort(): void {
    this.#socket.destroy();
  }

  /** To be called when the socket has closed. */
  close(): void {
    this.#closed = true;
    for (const { closed } of this.#ended) closed();
    this.#ended = [];
  }

  #forgetClosed(): void {
    const open: Lingering[] = [];
    for (const each of this.#ended) {
      if (each.isOpen()) open.push(each);
      else each.closed();
    }
    if (open.length < this.#ended.length) this.#streamGone = true;
    this.#ended = open;
  }
}

/** The remote `address:port`. */
export function peerOf(socket: Socket): string {
  return `${socket.remoteAddress}:${socket.remotePort}`;
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

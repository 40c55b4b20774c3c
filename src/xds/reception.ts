import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { getHeapStatistics } from 'node:v8';
import type { ListenAddress, XdsLimits } from '../core/model/configuration.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { LogLimiter } from '../runtime/log-limiter.ts';
import { roomForConnections } from '../runtime/open-files.ts';
import type { Admission } from './admission.ts';
import { type Client, clientOf } from './client.ts';
import { type Connection, peerOf } from './connection.ts';
import { Connections } from './connections.ts';
import { type Identity, identitiesOf } from './identity.ts';
import type { Refusal } from './refusal.ts';
import type { Refusals } from './refusals.ts';
import { TlsFront, type TlsSettings } from './tls-front.ts';
import { unfit } from './unfit.ts';

/** How often connections are looked at: what one can send between two looks must not matter. */
const LOOK_MS = 500;

/** All connections together may owe this part of the heap: cut into the smallest frames it takes ten times the room. */
const OWED_PART_OF_HEAP = 1 / 32;

/** Takes connections, finds out whose they are, hands them on, and closes those that do not behave. */
export class Reception {
  readonly #limits: XdsLimits;
  readonly #clock: Clock;
  readonly #admission: Admission;
  readonly #refusals: Refusals;
  readonly #connections: Connections;
  readonly #tls: TlsFront | undefined;
  readonly #accept: (socket: Socket) => void;
  readonly #owedBytes = getHeapStatistics().heap_size_limit * OWED_PART_OF_HEAP;
  #cancelLook: (() => void) | undefined;

  constructor(options: {
    readonly limits: XdsLimits;
    /** undefined: plain text. */
    readonly tls: TlsSettings | undefined;
    readonly clock: Clock;
    readonly log: Logger;
    readonly warnings: LogLimiter;
    readonly refusals: Refusals;
    readonly admission: Admission;
    /** Is given each connection that was let in, with its TLS taken off. */
    readonly accept: (socket: Socket) => void;
  }) {
    const { limits, tls, clock, log, warnings, refusals, admission } = options;
    this.#limits = limits;
    this.#clock = clock;
    this.#admission = admission;
    this.#refusals = refusals;
    this.#accept = options.accept;
    const accept = (socket: TLSSocket): void => {
      this.#identify(socket);
    };
    this.#tls = tls && new TlsFront({ settings: tls, clock, log, warnings, accept });
    // What the system refuses by itself is neither told nor counted.
    const limit = Math.min(limits.streams, roomForConnections());
    this.#connections = new Connections({
      now: () => clock.now(),
      limit,
      accept: (connection, socket) => {
        this.#begin(connection, socket);
      },
      closed: (connection) => {
        this.#closed(connection);
      },
      dropped: (address) => {
        const details = `Xds.Limits.Streams: ${limit} connections are open`;
        refusals.tell({ limit: 'Streams', details }, clientOf(undefined, address).name, '');
      },
    });
  }

  /**
   * @returns the bound address.
   * @throws PlimsollError `io` when a certificate cannot be used or the address cannot be bound, such as a port in use.
   */
  async listen(address: ListenAddress): Promise<ListenAddress> {
    await this.#tls?.open();
    try {
      const bound = await this.#connections.listen(address);
      this.#scheduleLook();
      return bound;
    } catch (error) {
      await this.#tls?.close();
      throw error;
    }
  }

  /** The open connection of a peer. @param peer the remote `address:port`. */
  connectionOf(peer: string): Connection | undefined {
    return this.#connections.of(peer);
  }

  /** Takes no more connections at once; resolves when the port is free and the last connection is closed. */
  async close(): Promise<void> {
    this.#cancelLook?.();
    await Promise.all([this.#tls?.close(), this.#connections.close()]);
  }

  abortAll(): void {
    for (const connection of this.#connections.open) connection.abort();
  }

  /** Before the handshake nobody knows whose a connection behind TLS is: only how many an address makes is bounded. */
  #begin(connection: Connection, socket: Socket): void {
    const client = clientOf(undefined, socket.remoteAddress ?? '');
    const refusal = this.#admission.connect(client.key);
    if (refusal !== undefined) this.#turnAway(socket, refusal, client);
    else if (this.#tls === undefined) this.#letIn(connection, socket, client, []);
    else this.#tls.begin(socket);
  }

  /** Many clients may have one address: who has a certificate counts by that. */
  #identify(socket: TLSSocket): void {
    const connection = this.#connections.of(peerOf(socket));
    const identities = identitiesOf(socket.getPeerCertificate().subjectaltname ?? '');
    const client = clientOf(identities[0], socket.remoteAddress ?? '');
    if (connection === undefined) socket.destroy();
    else this.#letIn(connection, socket, client, identities);
  }

  #letIn(connection: Connection, socket: Socket, client: Client, identities: readonly Identity[]): void {
    const refusal = this.#admission.openConnection(client.key);
    if (refusal !== undefined) {
      this.#turnAway(socket, refusal, client);
      return;
    }
    connection.identify(client, identities, this.#clock.now());
    this.#accept(socket);
  }

  #turnAway(socket: Socket, refusal: Refusal, { name }: Client): void {
    this.#refusals.tell(refusal, name, '');
    socket.destroy();
  }

  #closed(connection: Connection): void {
    connection.close();
    if (connection.client !== undefined) this.#admission.closeConnection(connection.client.key);
  }

  #scheduleLook(): void {
    this.#cancelLook = this.#clock.schedule(LOOK_MS, () => {
      this.#look();
      this.#scheduleLook();
    });
  }

  #look(): void {
    const { open } = this.#connections;
    for (const { connection, refusal } of unfit(open, this.#limits, this.#owedBytes, this.#clock.now())) {
      if (refusal !== undefined) this.#refusals.tell(refusal, connection.client?.name ?? '', '');
      connection.abort();
    }
  }
}

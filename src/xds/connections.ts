import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { ListenAddress } from '../core/model/configuration.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';
import { Connection } from './connection.ts';

/**
 * Connections that wait to be accepted; the kernel takes at most net.core.somaxconn. When all sidecars come at once
 * those beyond it try again a second later.
 */
const BACKLOG = 4096;

/**
 * The listening socket and its connections. They are ours and not the gRPC library's because that has no call that
 * ends the connection of a client which does not read.
 */
export class Connections {
  readonly #server: Server;
  readonly #open = new Set<Connection>();
  readonly #byPeer = new Map<string, Connection>();

  constructor(options: {
    /** Monotonic milliseconds. */
    readonly now: () => number;
    /** More connections at a time are closed as they come, and told to `dropped`. */
    readonly limit: number;
    /** Is given each new connection. */
    readonly accept: (connection: Connection, socket: Socket) => void;
    /** Is given each when it has closed, once. */
    readonly closed: (connection: Connection) => void;
    /** @param address the client's IP address; empty: unknown. */
    readonly dropped: (address: string) => void;
  }) {
    this.#server = createServer((socket) => {
      const connection = new Connection(socket, options.now());
      this.#open.add(connection);
      this.#byPeer.set(connection.peer, connection);
      socket.once('close', () => {
        this.#forget(connection);
        options.closed(connection);
      });
      // What went wrong shows in the close that follows.
      socket.on('error', () => undefined);
      options.accept(connection, socket);
    });
    this.#server.maxConnections = options.limit;
    this.#server.on('drop', (drop) => {
      options.dropped(drop?.remoteAddress ?? '');
    });
  }

  /**
   * @returns the bound address.
   * @throws PlimsollError `io` when the address cannot be bound.
   */
  async listen({ host, port }: ListenAddress): Promise<ListenAddress> {
    try {
      this.#server.listen({ host, port, backlog: BACKLOG });
      await once(this.#server, 'listening');
    } catch (error) {
      throw new PlimsollError(
        'io',
        `Xds.Listen: cannot listen on ${host} port ${port}: ${messageOf(error)}`,
        {
          cause: error,
        },
      );
    }
    const bound = this.#server.address();
    return typeof bound === 'object' && bound !== null
      ? { host: bound.address, port: bound.port }
      : { host, port };
  }

  /** Those that are open. */
  get open(): ReadonlySet<Connection> {
    return this.#open;
  }

  /** The newest one from there. @param peer the remote `address:port`. */
  of(peer: string): Connection | undefined {
    return this.#byPeer.get(peer);
  }

  /** Takes no more connections at once; resolves when the port is free and the last connection is closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  /** A peer may be back on a new connection before the close of the old one is known. */
  #forget(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#byPeer.get(connection.peer) === connection) this.#byPeer.delete(connection.peer);
  }
}

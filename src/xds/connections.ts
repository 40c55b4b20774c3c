import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { ListenAddress } from '../core/model.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';

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
  readonly #sockets = new Map<string, Socket>();

  constructor(options: {
    /** More connections at a time are closed as they come, and told to `dropped`. */
    readonly limit: number;
    /** Is given each new connection. */
    readonly accept: (socket: Socket) => void;
    /** @param address the client's IP address; empty: unknown. */
    readonly dropped: (address: string) => void;
  }) {
    this.#server = createServer((socket) => {
      const peer = peerOf(socket);
      this.#sockets.set(peer, socket);
      socket.once('close', () => this.#sockets.delete(peer));
      // What went wrong shows in the close that follows.
      socket.on('error', () => undefined);
      options.accept(socket);
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

  /**
   * Not from within an event of a stream or connection: with TLS on top Node would crash.
   * @param peer the remote `address:port`.
   */
  abort(peer: string): void {
    this.#sockets.get(peer)?.destroy();
  }

  abortAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  /** Takes no more connections at once; resolves when the port is free and the last connection is closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }
}

/** The remote `address:port`. */
export function peerOf(socket: Socket): string {
  return `${socket.remoteAddress}:${socket.remotePort}`;
}

/** The address of a peer. */
export function addressOf(peer: string): string {
  return peer.slice(0, peer.lastIndexOf(':'));
}

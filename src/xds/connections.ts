import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { ListenAddress } from '../core/model.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';

/**
 * The listening socket and its connections. They are ours and not the gRPC library's because that has no call that
 * ends the connection of a client which does not read.
 */
export class Connections {
  readonly #server: Server;
  readonly #sockets = new Map<string, Socket>();

  /** @param accept is given each new connection. */
  constructor(accept: (socket: Socket) => void) {
    this.#server = createServer((socket) => {
      const peer = `${socket.remoteAddress}:${socket.remotePort}`;
      this.#sockets.set(peer, socket);
      socket.once('close', () => this.#sockets.delete(peer));
      // What went wrong shows in the close that follows.
      socket.on('error', () => undefined);
      accept(socket);
    });
  }

  /**
   * @returns the bound address.
   * @throws PlimsollError `io` when the address cannot be bound.
   */
  async listen({ host, port }: ListenAddress): Promise<ListenAddress> {
    try {
      this.#server.listen({ host, port });
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

  /** @param peer the remote `address:port`. */
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

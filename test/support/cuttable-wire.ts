import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands between a client and a port of 127.0.0.1, passes bytes on, and can break every connection at once and keep new ones waiting. */
export class CuttableWire {
  readonly port: number;
  /** Connections so far. */
  opened = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #held: (() => void)[] | undefined;

  static async open(to: number): Promise<CuttableWire> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new CuttableWire(server, to);
  }

  private constructor(server: Server, to: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (near) => {
      this.opened++;
      const join = (): void => {
        this.#join(near, connect(to, '127.0.0.1'));
      };
      if (this.#held === undefined) join();
      else this.#held.push(join);
    });
  }

  /** Connections that come are not passed on before {@link release}. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const join of held) join();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #join(near: Socket, far: Socket): void {
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one
        .on('error', () => undefined)
        .on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      one.pipe(other);
    }
  }
}

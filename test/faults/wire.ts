import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { WireHandle, WireState } from './model.ts';

const SLOW_MS = 1000;

/** Stands between a sidecar and the control plane, which may come and go. */
export class Wire implements WireHandle {
  readonly port: number;
  to: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Called when the state changes. */
  readonly #waiting = new Set<() => void>();
  #state: WireState = 'open';

  static async open(to: number): Promise<Wire> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Wire(server, to);
  }

  private constructor(server: Server, to: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.to = to;
    server.on('connection', (near) => {
      this.#join(near);
    });
  }

  get state(): WireState {
    return this.#state;
  }

  set state(state: WireState) {
    this.#state = state;
    for (const wake of this.#waiting) wake();
  }

  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.state = 'closed';
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  #join(near: Socket): void {
    if (this.#state === 'closed') {
      near.on('error', () => undefined);
      near.resetAndDestroy();
      return;
    }
    const far = connect(this.to, '127.0.0.1');
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true).on('error', () => undefined);
    }
    void this.#carry(near, far, false);
    void this.#carry(far, near, true);
  }

  /** @param throttled whether `slow` is for these bytes */
  async #carry(from: Socket, to: Socket, throttled: boolean): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        for (const part of this.#parts(chunk, throttled)) {
          await this.#pass();
          if (to.destroyed) return;
          to.write(part);
          if (part.length < chunk.length) await this.#wait(SLOW_MS);
        }
      }
    } catch {
      // reset: the other side is, too
    } finally {
      await this.#pass();
      this.#sockets.delete(from);
      from.destroy();
      to.destroy();
    }
  }

  *#parts(chunk: Buffer, throttled: boolean): Generator<Buffer> {
    let at = 0;
    while (at < chunk.length) {
      const size = throttled && this.#state === 'slow' ? 1 : chunk.length - at;
      yield chunk.subarray(at, at + size);
      at += size;
    }
  }

  /** Until bytes may pass. */
  async #pass(): Promise<void> {
    while (this.#state === 'silent') await this.#wait(undefined);
  }

  /** Until the state changes, at most so long. */
  #wait(milliseconds: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = milliseconds === undefined ? undefined : setTimeout(done, milliseconds);
      this.#waiting.add(done);
    });
  }
}

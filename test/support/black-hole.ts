import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** How many connections the kernel completes by itself for a backlog of 1. */
const COMPLETED = 2;

/**
 * A TCP port of 127.0.0.1 where opening a connection takes for ever: its listener never accepts, and its backlog is
 * full, so that the kernel drops every SYN.
 */
export class BlackHole {
  readonly port: number;
  readonly #worker: Worker;
  readonly #sockets: readonly Socket[];

  static async start(): Promise<BlackHole> {
    const worker = new Worker(
      `const { parentPort } = require('node:worker_threads');
       const server = require('node:net').createServer();
       server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
         parentPort.postMessage(server.address().port);
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
       });`,
      { eval: true },
    );
    const [port] = (await once(worker, 'message')) as [number];
    const sockets: Socket[] = [];
    for (let i = 0; i < COMPLETED; i++) {
      const socket = connect(port, '127.0.0.1');
      // its end comes with the worker's
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      sockets.push(socket);
    }
    return new BlackHole(port, worker, sockets);
  }

  private constructor(port: number, worker: Worker, sockets: readonly Socket[]) {
    this.port = port;
    this.#worker = worker;
    this.#sockets = sockets;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#worker.terminate();
  }
}

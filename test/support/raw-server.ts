import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from 'node:tls';
import type { Backend } from '../../src/core/model/backend.ts';
import { formatHostPort } from '../../src/runtime/host-port.ts';

/** Answers one request, in any way that a socket allows. */
export type RawAnswer = (socket: Socket, request: string) => void;

/** A TCP or TLS server that answers each HTTP request with bytes of the test's choice. */
export class RawServer {
  readonly backend: Backend;
  /** The heads of the requests, in the order of their coming. */
  readonly requests: string[] = [];
  answer: RawAnswer;
  /** TLS connections so far: the name that was asked for, and whether the session is that of one before. */
  readonly handshakes: { readonly name: string; readonly resumed: boolean }[] = [];
  /** Connections so far. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, answer: RawAnswer, isTls: boolean) {
    const { address, port } = server.address() as AddressInfo;
    this.backend = { id: formatHostPort(address, port), address, port, weight: 100 };
    this.answer = answer;
    this.#server = server;
    server.on('connection', (socket) => {
      this.#track(socket);
    });
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
      if (isTls) this.#note(socket as TLSSocket);
      this.#read(socket);
    });
  }

  /** Listens on a port of the kernel's choice. @param tls makes it a TLS server */
  static async start(answer: RawAnswer, host = '127.0.0.1', tls?: TlsOptions): Promise<RawServer> {
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, host, resolve);
    });
    return new RawServer(server, answer, tls !== undefined);
  }

  /** Connections that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  closeConnections(): void {
    for (const socket of this.#sockets) socket.end();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #track(socket: Socket): void {
    this.connections++;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
  }

  #note(socket: TLSSocket): void {
    socket.on('error', () => undefined);
    this.handshakes.push({ name: socket.servername || '', resumed: socket.isSessionReused() });
  }

  #read(socket: Socket): void {
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      if (end === -1) return;
      const request = received.slice(0, end);
      received = received.slice(end + 4);
      this.requests.push(request);
      this.answer(socket, request);
    });
  }
}

/** A complete answer of HTTP/1.1. */
export function response(body: string | Buffer, head: readonly string[] = [], status = '200 OK'): Buffer {
  const lines = [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, ...head];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}

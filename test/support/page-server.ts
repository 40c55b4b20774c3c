import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Backend } from '../../src/core/model/backend.ts';
import type { Issued } from './pki.ts';

export interface PageAnswer {
  readonly status?: number;
  readonly head?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly afterMs?: number;
}

/** A web server on 127.0.0.1 that answers each request as the test says. */
export class PageServer {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** @param tls with it, over TLS */
  static async start(
    answer: (url: string, request: IncomingMessage) => PageAnswer,
    tls?: Issued,
  ): Promise<PageServer> {
    const server = tls === undefined ? createServer() : createTlsServer({ cert: tls.cert, key: tls.key });
    server.on('request', (request, response) => {
      const {
        status = 200,
        head = { 'content-type': 'text/plain' },
        body = 'no',
        afterMs,
      } = answer(request.url ?? '', request);
      const send = (): void => {
        response.writeHead(status, head).end(body);
      };
      if (afterMs === undefined) send();
      else setTimeout(send, afterMs);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return new PageServer(server);
  }

  get backend(): Backend {
    return { id: `127.0.0.1:${this.port}`, address: '127.0.0.1', port: this.port, weight: 100 };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

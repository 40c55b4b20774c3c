import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatHostPort } from '../../src/runtime/host-port.ts';
import { vllmPage } from './vllm-page.ts';

/** The load that a {@link GaugeBackend} says it has. */
export interface Gauges {
  readonly queued: number;
  readonly running: number;
  /** 0..1 */
  readonly kv: number;
  readonly finished: number;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A backend whose load is what the test says: a vLLM page with settable gauges at `/metrics`; to anything else it
 * answers at once, with its own address in the header `x-backend`.
 */
export class GaugeBackend {
  readonly address: string;
  gauges: Gauges = { queued: 0, running: 0, kv: 0, finished: 0 };
  /** Counts up by itself at each scrape, as an engine at work does. Off: the page stands still. */
  moving = false;
  /** Replaces the metrics page. */
  metrics: Answer | undefined;
  /** Replaces the answer to a request. */
  serve: Answer | undefined;
  /** Requests served, scrapes not counted. */
  hits = 0;
  scrapes = 0;
  #server: Server | undefined;
  #port = 0;

  constructor(address: string) {
    this.address = address;
  }

  get port(): number {
    return this.#port;
  }

  /** As the configuration and Envoy name it. */
  get id(): string {
    return formatHostPort(this.address, this.#port);
  }

  /** Listens on its address; on the port it had before, if it ever listened. */
  async start(port = this.#port): Promise<void> {
    const server = createServer({ keepAliveTimeout: 5_000 }, (request, response) => {
      this.#answer(request, response);
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // connections beyond the backlog would wait for the client's next SYN, a second later
      server.listen({ port, host: this.address, backlog: 4096 }, resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Closes the port and every connection: what connects now is refused. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.url === '/metrics') {
      this.scrapes++;
      if (this.moving) this.gauges = { ...this.gauges, finished: this.gauges.finished + 1 };
      if (this.metrics === undefined)
        response.setHeader('content-type', 'text/plain').end(pageOf(this.gauges));
      else this.metrics(request, response);
      return;
    }
    if (request.url?.startsWith('/metrics/') === true) {
      response.writeHead(404).end('no filter here\n');
      return;
    }
    this.hits++;
    request.resume();
    if (this.serve === undefined) response.setHeader('x-backend', this.id).end('ok\n');
    else this.serve(request, response);
  }
}

/** A whole vLLM page with these values; requests have stayed 8 s each. */
export function pageOf({ queued, running, kv, finished }: Gauges): string {
  return vllmPage([{ waiting: queued, running, kvUsage: kv, finished, latencySumSeconds: 8 * finished }]);
}

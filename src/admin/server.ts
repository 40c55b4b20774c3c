import Fastify, { type FastifyInstance } from 'fastify';
import type { ListenAddress } from '../core/model.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';
import { addExplainRoutes, type ExplainSource } from './explain-routes.ts';

/** From a request's first byte to its last. */
const REQUEST_TIMEOUT_MS = 10_000;
/** The longest name of a server group, every character of it percent-encoded. */
const PATH_PART_MAX = 256 * 12;

export interface AdminOptions {
  /** Ready to be asked by sidecars: every server group has a first assignment, and no stop has begun. */
  readonly ready: () => boolean;
  /** The metrics page, and its content type. */
  readonly metrics: () => Promise<string>;
  readonly metricsContentType: string;
  readonly explain: ExplainSource;
}

/** The admin address: `/healthz`, `/readyz`, `/metrics` and `/explain`. Nothing there changes state. */
export class AdminServer {
  readonly #http: FastifyInstance;

  constructor(options: AdminOptions) {
    this.#http = Fastify({
      logger: false,
      bodyLimit: 1024,
      requestTimeout: REQUEST_TIMEOUT_MS,
      routerOptions: { maxParamLength: PATH_PART_MAX },
      forceCloseConnections: true,
      // on its own Node looks for requests that take too long only every 30 s
      http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1000 },
    });
    this.#http.get('/healthz', (_request, reply) => reply.type('text/plain').send('ok\n'));
    this.#http.get('/readyz', (_request, reply) => {
      const ready = options.ready();
      return reply
        .code(ready ? 200 : 503)
        .type('text/plain')
        .send(ready ? 'ready\n' : 'not ready\n');
    });
    this.#http.get('/metrics', async (_request, reply) =>
      reply.type(options.metricsContentType).send(await options.metrics()),
    );
    addExplainRoutes(this.#http, options.explain);
  }

  /**
   * @returns the bound address.
   * @throws PlimsollError `io` when the address cannot be bound.
   */
  async listen(address: ListenAddress): Promise<ListenAddress> {
    try {
      await this.#http.listen({ host: address.host, port: address.port });
    } catch (error) {
      throw new PlimsollError(
        'io',
        `Admin.Listen: cannot listen on ${address.host} port ${address.port}: ${messageOf(error)}`,
        { cause: error },
      );
    }
    const bound = this.#http.server.address();
    return {
      host: address.host,
      port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    };
  }

  async stop(): Promise<void> {
    await this.#http.close();
  }
}

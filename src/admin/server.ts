import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import Fastify, { type FastifyInstance } from 'fastify';
import type { AdminSettings, ListenAddress } from '../core/model/configuration.ts';
import { type Clock, unixMs } from '../runtime/clock.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { roomForAdmin } from '../runtime/open-files.ts';
import { ReloadedCredentials } from '../runtime/reloaded-credentials.ts';
import { shortened } from '../runtime/shortened.ts';
import { TokenFile } from '../runtime/token-file.ts';
import { limitAnswers } from './answer-limit.ts';
import { limitConnections } from './connection-limit.ts';
import { addExplainRoutes, type ExplainSource } from './explain-routes.ts';
import { addGuard, refuse } from './guard.ts';
import { inTurn } from './in-turn.ts';
import { tellKnownPaths } from './known-paths.ts';
import type { LiveState } from './live-state.ts';
import { NO_SCHEMAS } from './no-schemas.ts';
import { addPageRoutes } from './page-routes.ts';
import { sendShared } from './shared-bytes.ts';
import { SharedPage } from './shared-page.ts';
import { StateRoutes } from './state-routes.ts';

const CONNECTIONS_MAX = 512;
/** Requests that wait on a connection for those before them. */
const PIPELINED_MAX = 16;
/** Between two requests of a connection. */
const KEEP_ALIVE_MS = 75_000;
/** Groups that a probe is told of. */
const WAITING_SHOWN = 10;
const HEADER_BYTES_MAX = 16 * 1024;
/** The longest name of a server group, every character of it percent-encoded. */
const PATH_PART_MAX = 256 * 12;

/** What one client may take of what is there for all. */
export interface AdminLimits {
  /** From a request's first byte to its last, and for the TLS handshake before it. */
  readonly requestMs: number;
  /** Until a client has taken an answer. */
  readonly answerMs: number;
  /** At a time: one more closes an old one. */
  readonly connections: number;
}

export interface AdminOptions {
  readonly settings: AdminSettings;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ready to be asked by sidecars: every server group has had an assignment at a time, and no stop has begun. */
  readonly ready: () => boolean;
  /** Groups whose backends are not known yet, and why. Default: none is told of. */
  readonly waiting?: () => readonly { readonly serverGroup: string; readonly reason: string }[];
  /** The metrics page, and its content type. */
  readonly metrics: () => Promise<string>;
  readonly metricsContentType: string;
  readonly explain: ExplainSource;
  readonly state: LiveState;
  /** Default: 10 s, 30 s, and 512 or as many as there is room for. */
  readonly limits?: AdminLimits;
}

/**
 * The admin address: the live page, `/state`, `/events`, `/trends`, `/samples`, `/explain`, `/metrics`, `/healthz` and `/readyz`.
 * Nothing there changes state.
 */
export class AdminServer {
  readonly #settings: AdminSettings;
  readonly #http: FastifyInstance;
  readonly #stateRoutes: StateRoutes;
  readonly #metrics: SharedPage;
  readonly #token: TokenFile | undefined;
  readonly #credentials: ReloadedCredentials | undefined;

  constructor(options: AdminOptions) {
    const { settings, clock, log, state, limits = usualLimits() } = options;
    const { tls, bearerTokenFile: path, hosts } = settings;
    this.#settings = settings;
    this.#http = Fastify({
      logger: false,
      schemaController: NO_SCHEMAS,
      bodyLimit: 1024,
      routerOptions: { maxParamLength: PATH_PART_MAX },
      forceCloseConnections: true,
      serverFactory: (handler) => makeServer(inTurn(handler, PIPELINED_MAX), tls !== undefined, limits),
      frameworkErrors: ({ statusCode }, _request, reply) => {
        void refuse(reply, statusCode ?? 400, 'no path like this is here');
      },
    });
    this.#token =
      path === undefined ? undefined : new TokenFile({ field: 'Admin.BearerTokenFile', path, clock, log });
    this.#credentials = tls && this.#credentialsOf(tls, clock, log);
    const token = this.#token;
    limitAnswers(this.#http, clock, limits.answerMs);
    addGuard(this.#http, { hosts, isToken: token && ((text) => token.is(text)) });
    tellKnownPaths(this.#http);
    this.#addProbes(options);
    this.#metrics = new SharedPage(options.metrics, clock);
    this.#http.get('/metrics', async (_request, reply) =>
      sendShared(reply.type(options.metricsContentType), await this.#metrics.get()),
    );
    addExplainRoutes(this.#http, options.explain);
    this.#stateRoutes = new StateRoutes(this.#http, state, clock);
    addPageRoutes(this.#http);
  }

  /**
   * @returns the bound address.
   * @throws PlimsollError `io` when a file cannot be used or the address cannot be bound.
   */
  async listen(): Promise<ListenAddress> {
    const { host, port } = this.#settings.listen;
    try {
      await this.#token?.open();
      await this.#credentials?.open();
      await this.#bind(host, port);
    } catch (error) {
      await this.stop();
      throw error;
    }
    const bound = this.#http.server.address();
    return { host, port: typeof bound === 'object' && bound !== null ? bound.port : port };
  }

  async stop(): Promise<void> {
    this.#stateRoutes.close();
    this.#metrics.close();
    await Promise.all([this.#http.close(), this.#token?.close(), this.#credentials?.close()]);
  }

  async #bind(host: string, port: number): Promise<void> {
    try {
      await this.#http.listen({ host, port });
    } catch (error) {
      const message = `Admin.Listen: cannot listen on ${host} port ${port}: ${messageOf(error)}`;
      throw new PlimsollError('io', message, { cause: error });
    }
  }

  #credentialsOf(tls: NonNullable<AdminSettings['tls']>, clock: Clock, log: Logger): ReloadedCredentials {
    const server = this.#http.server as Partial<TlsServer>;
    return new ReloadedCredentials({
      field: 'Admin.Tls',
      files: { ...tls, clientCaFile: undefined },
      clock,
      unixMs,
      log,
      observer: {
        credentialsTaken: ({ cert, key }) => server.setSecureContext?.({ cert, key }),
        credentialsRefused: () => undefined,
      },
    });
  }

  #addProbes({ ready, waiting = () => [] }: AdminOptions): void {
    this.#http.get('/healthz', (_request, reply) => reply.type('text/plain').send('ok\n'));
    this.#http.get('/readyz', (_request, reply) => {
      const isReady = ready();
      return reply
        .code(isReady ? 200 : 503)
        .type('text/plain; charset=utf-8')
        .send(withReasons(isReady ? 'ready' : 'not ready', waiting()));
    });
  }
}

function usualLimits(): AdminLimits {
  return {
    requestMs: 10_000,
    answerMs: 30_000,
    connections: Math.min(CONNECTIONS_MAX, roomForAdmin()),
  };
}

function withReasons(answer: string, waiting: ReturnType<NonNullable<AdminOptions['waiting']>>): string {
  const lines = waiting.map(({ serverGroup, reason }) => `${serverGroup}: waiting for discovery: ${reason}`);
  return `${[answer, ...shortened(lines, WAITING_SHOWN)].join('\n')}\n`;
}

/** @param secure with TLS, whose certificate is set before it listens */
function makeServer(handler: RequestListener, secure: boolean, limits: AdminLimits): Server | TlsServer {
  const { requestMs, connections } = limits;
  const options = {
    requestTimeout: requestMs,
    headersTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    // on its own Node looks for requests that take too long only every 30 s
    connectionsCheckingInterval: requestMs / 10,
  };
  const server = secure
    ? createTlsServer({ ...options, handshakeTimeout: requestMs }, handler)
    : createServer(options, handler);
  limitConnections(server, connections);
  return server;
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BackendId } from '../core/model/backend.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { PlimsollError } from '../runtime/errors.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import {
  DEFAULT_ENGINE,
  Engine,
  type EngineCounters,
  type EngineEvent,
  type EngineGauges,
  type EngineSettings,
} from './engine.ts';
import { readCompletionRequest } from './completion-request.ts';
import { filterPage } from './page-filter.ts';
import { createRandom, type Random } from './random.ts';
import { Reporter, type ReporterOptions } from './reporter.ts';

/** How `GET /metrics` answers. */
export type MetricsBehaviour =
  | { readonly kind: 'live' }
  /** The page as it was when this was set. */
  | { readonly kind: 'frozen' }
  | { readonly kind: 'status'; readonly status: number }
  /** Status 200 and a web page. */
  | { readonly kind: 'html' }
  /** No answer ever. */
  | { readonly kind: 'hang' }
  | {
      readonly kind: 'custom';
      readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
    };

export interface BackendOptions extends ReporterOptions {
  /** A loopback IP literal, IPv6 without brackets. */
  readonly address: string;
  /** Default 0: the kernel's choice. */
  readonly port?: number;
  readonly engine?: EngineSettings;
  /** Factor on the duration of the engine's steps; 2: half speed. */
  readonly slowness?: number;
  /** This share of the fetches of the metrics page, drawn by the seed, fails with a 500. */
  readonly failingFetches?: { readonly share: number; readonly seed: number };
  /** More headers for the answer to a request. */
  readonly answerHeaders?: (request: IncomingMessage) => Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

/** Names the backend in every answer that it gives. */
export const BACKEND_HEADER = 'x-backend';
/** A comment in the event stream: as many tokens are generated as the request wanted to be told of. */
export const REACHED = ': reached\n\n';

/**
 * A simulated vLLM server: `POST /v1/completions` (see {@link readCompletionRequest}) answers with its first byte when
 * the first token is due and with the rest when the last one is; `GET /metrics` is as large as vLLM's page, and
 * `GET /metrics/?name[]=…` has only those series of it.
 * A client that goes away takes its request out of the engine.
 */
export class SimulatedBackend {
  readonly id: BackendId;
  readonly address: string;
  readonly port: number;
  readonly #clock: Clock;
  readonly #engine: Engine;
  readonly #reporter: Reporter;
  readonly #failingFetches: { readonly share: number; readonly random: Random } | undefined;
  readonly #answerHeaders: BackendOptions['answerHeaders'];
  readonly #responses = new Map<number, ServerResponse>();
  readonly #server: Server;
  #slowness: number;
  #metrics: MetricsBehaviour = { kind: 'live' };
  #frozenPage = '';
  #failing = false;
  #nextId = 0;
  #cancelTimer: () => void = () => undefined;

  /** @throws PlimsollError `io` when the address cannot be listened on. */
  static async start(options: BackendOptions): Promise<SimulatedBackend> {
    const server = createServer();
    await listen(server, options.address, options.port ?? 0);
    return new SimulatedBackend(options, server);
  }

  private constructor(options: BackendOptions, server: Server) {
    this.address = options.address;
    this.port = (server.address() as AddressInfo).port;
    this.id = formatHostPort(this.address, this.port);
    this.#clock = options.clock ?? systemClock;
    this.#engine = new Engine(options.engine ?? DEFAULT_ENGINE);
    this.#slowness = options.slowness ?? 1;
    this.#engine.slowness = this.#slowness;
    this.#reporter = new Reporter(this.#engine, this.#clock, options);
    const { failingFetches } = options;
    if (failingFetches !== undefined) {
      const { share, seed } = failingFetches;
      this.#failingFetches = { share, random: createRandom(seed) };
    }
    this.#answerHeaders = options.answerHeaders;
    this.#server = server;
    server.on('request', (request, response) => {
      void this.#answer(request, response);
    });
  }

  get slowness(): number {
    return this.#slowness;
  }

  /** Holds for the steps that start from now on. */
  set slowness(factor: number) {
    this.#slowness = factor;
    this.#engine.slowness = factor;
  }

  set metrics(behaviour: MetricsBehaviour) {
    this.#drive();
    if (behaviour.kind === 'frozen') this.#frozenPage = this.#reporter.page;
    this.#metrics = behaviour;
  }

  /** Resets what is inside and answers every request with a 500 at once, while the metrics page tells of no load. */
  set failing(on: boolean) {
    this.#drive();
    this.#failing = on;
    this.#reporter.looksIdle = on;
    if (on) this.abortAll();
    this.#drive();
  }

  /** As the metrics page has them: of the end of the last step. */
  get gauges(): EngineGauges {
    this.#drive();
    return this.#engine.gauges;
  }

  get counters(): EngineCounters {
    this.#drive();
    return this.#engine.counters;
  }

  /** Requests inside at this moment. */
  get inside(): number {
    this.#drive();
    return this.#engine.inside;
  }

  /** Requests taken in since the start. */
  get accepted(): number {
    return this.#nextId;
  }

  /** Resets the connection of every request inside and takes them out, as when all callers go away at once. */
  abortAll(): void {
    for (const response of this.#responses.values()) response.destroy();
  }

  /** Stops listening and resets all connections: new ones are refused. */
  closePort(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
      this.#server.closeAllConnections();
    });
  }

  /** Listens again on the same port. */
  openPort(): Promise<void> {
    return listen(this.#server, this.address, this.port);
  }

  async stop(): Promise<void> {
    this.#cancelTimer();
    await this.closePort();
    this.#cancelTimer();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const more = this.#answerHeaders?.(request) ?? {};
    for (const [name, value] of Object.entries(more)) response.setHeader(name, value);
    const path = request.url?.split('?')[0];
    if (request.method === 'POST' && path === '/v1/completions') await this.#complete(request, response);
    else if (path === '/metrics' || path === '/metrics/') this.#answerMetrics(request, response);
    else if (path === '/health') this.#send(response, 200, 'text/plain', '');
    else this.#send(response, 404, 'application/json', '{"detail":"Not Found"}');
  }

  async #complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const read = await readCompletionRequest(request);
    if (response.destroyed) return;
    const id = this.#nextId;
    const wanted = read.kind === 'request' ? { id, ...read.wanted } : undefined;
    if (wanted === undefined || !this.#engine.fits(wanted)) {
      const reason = read.kind === 'refused' ? read.reason : 'the request is longer than the KV cache';
      this.#send(response, 400, 'application/json', JSON.stringify({ error: { message: reason } }));
      return;
    }
    if (this.#failing) {
      this.#reporter.failed();
      this.#send(response, 500, 'application/json', '{"error":{"message":"the engine is dead"}}');
      return;
    }
    this.#nextId++;
    this.#responses.set(id, response);
    response.on('close', () => {
      if (this.#responses.delete(id)) {
        this.#drive();
        this.#engine.abort(id);
      }
    });
    this.#drive();
    this.#engine.add(wanted, this.#clock.now());
    this.#drive();
  }

  /** Brings the engine to the present, passes on what happened, and sets the timer for the end of the next step. */
  #drive(): void {
    this.#cancelTimer();
    const nowMs = this.#clock.now();
    for (const event of this.#engine.advance(nowMs)) this.#deliver(event);
    this.#reporter.note();
    const { nextMs } = this.#engine;
    if (nextMs === undefined) return;
    this.#cancelTimer = this.#clock.schedule(Math.max(0, nextMs - this.#clock.now()), () => {
      this.#drive();
    });
  }

  #deliver(event: EngineEvent): void {
    const response = this.#responses.get(event.id);
    switch (event.kind) {
      case 'first_token':
        response?.writeHead(200, { 'content-type': 'text/event-stream', ...this.#headers() });
        response?.write(tokens(1));
        return;
      case 'reached':
        response?.write(REACHED);
        return;
      case 'finished':
        this.#reporter.finished(event.result);
        this.#responses.delete(event.id);
        response?.end(`${tokens(event.result.request.outputTokens - 1)}data: [DONE]\n\n`);
    }
  }

  #headers(): Readonly<Record<string, string>> {
    return { [BACKEND_HEADER]: this.id, ...this.#reporter.headers };
  }

  #answerMetrics(request: IncomingMessage, response: ServerResponse): void {
    const behaviour = this.#metrics;
    const fails = this.#failingFetches;
    if (fails !== undefined && fails.random.uniform() < fails.share) {
      this.#send(response, 500, 'text/plain', 'told to fail');
      return;
    }
    switch (behaviour.kind) {
      case 'live':
        this.#drive();
        this.#sendPage(request, response, this.#reporter.page);
        return;
      case 'frozen':
        this.#sendPage(request, response, this.#frozenPage);
        return;
      case 'status':
        this.#send(response, behaviour.status, 'text/plain', 'told to fail');
        return;
      case 'html':
        this.#send(response, 200, 'text/html', '<!doctype html><title>Sign in</title><p>Please sign in.');
        return;
      case 'hang':
        return;
      case 'custom':
        behaviour.answer(request, response);
    }
  }

  /** The route without a slash at its end passes over a query. */
  #sendPage({ url = '' }: IncomingMessage, response: ServerResponse, page: string): void {
    const answer = url.startsWith('/metrics/') ? filterPage(page, url) : page;
    this.#send(response, 200, METRICS_TYPE, answer);
  }

  #send(response: ServerResponse, status: number, type: string, body: string): void {
    response.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      ...this.#headers(),
    });
    response.end(body);
  }
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

function tokens(count: number): string {
  return 'data: {"choices":[{"text":" sea"}]}\n\n'.repeat(count);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (cause: Error): void => {
      reject(new PlimsollError('io', `backend ${host}:${port}: cannot listen: ${cause.message}`, { cause }));
    };
    server.once('error', onError);
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

/**
 * Starts `count` backends on 127.83.0.1, 127.83.0.2, …; `each` adds options by index.
 * @throws PlimsollError `io` when an address cannot be listened on; none of them runs then.
 */
export async function startBackends(
  count: number,
  each: (index: number) => Omit<BackendOptions, 'address'> = () => ({}),
): Promise<readonly SimulatedBackend[]> {
  const starts = Array.from({ length: count }, (_, index) =>
    SimulatedBackend.start({
      ...each(index),
      address: `127.83.${Math.floor(index / 250)}.${(index % 250) + 1}`,
    }),
  );
  try {
    return await Promise.all(starts);
  } catch (error) {
    await Promise.allSettled(starts.map(async (starting) => (await starting).stop()));
    throw error;
  }
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BACKEND_HEADER } from '../../src/demo/backend.ts';
import { createRandom, type Random } from '../../src/demo/random.ts';
import { formatHostPort } from '../../src/runtime/host-port.ts';
import type { BackendChange, MetricsChange } from '../faults/backend-change.ts';
import { LoadModel } from './load-model.ts';
import { fullPage, leanPage, type PageValues } from './pages.ts';

const LIVE: MetricsChange = { kind: 'live' };
const MODEL = 'llama';
/** How long a request takes, times the slowness of the backend. */
const SERVICE_MS = 10;
/** The path that an exporter filters its page by. */
const FILTER = '/metrics/';
/** What a hung backend owes is forgotten beyond this many. */
const MOST_OWED = 1_000;

/** One backend of the soak: it answers a request with the last part of its path, and its load is made up. */
export class FleetBackend {
  readonly address: string;
  readonly #model: LoadModel;
  readonly #random: Random;
  /** Whether its exporter can filter its page. */
  readonly #filters: boolean;
  readonly #startedMs = performance.now();
  #metrics = LIVE;
  #slowness = 1;
  #failing = false;
  #modelName = MODEL;
  #hung = false;
  readonly #closedBy = new Set<string>();
  readonly #owed: (() => void)[] = [];
  readonly #inside = new Set<ServerResponse>();
  #server: Server | undefined;
  #port = 0;
  /** The port of the beginning. */
  #home = 0;
  #collections = 0;
  /** The values of the page that stands still, and what had been served when it was told to. */
  #still: { readonly values: PageValues; readonly served: number } | undefined;
  #served = 0;

  constructor(address: string, index: number) {
    this.address = address;
    this.#random = createRandom(index);
    this.#model = new LoadModel(index, this.#random);
    this.#filters = index % 2 === 1;
  }

  get port(): number {
    return this.#port;
  }

  /** As the configuration names it. */
  get id(): string {
    return formatHostPort(this.address, this.#port);
  }

  /** Listens, on the port from before where there is one. */
  async open(): Promise<void> {
    if (this.#server !== undefined || this.#closedBy.size > 0) return;
    // brings it to the present: what was sent while it was away is lost
    this.#values();
    this.#model.restart();
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      this.#answer(request, response);
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port: this.#port, host: this.address, backlog: 1024 }, resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#home ||= this.#port;
  }

  async change(change: BackendChange): Promise<void> {
    const { metrics, slowness, failing, closed, model, abortAll } = change;
    if (metrics !== undefined) {
      const stands = ['frozen', 'stuck', 'idle'].includes(metrics.kind);
      this.#still = stands ? { values: this.#values(), served: this.#served } : undefined;
      this.#metrics = metrics;
    }
    if (slowness !== undefined) this.#slowness = slowness;
    if (failing !== undefined) this.#failing = failing;
    if (model !== undefined) this.#modelName = model;
    if (abortAll === true) for (const response of this.#inside) response.destroy();
    if (closed !== undefined) await this.close('fault', closed);
  }

  /** Its port is closed while anybody says so. */
  async close(by: string, closed: boolean): Promise<void> {
    if (closed) this.#closedBy.add(by);
    else this.#closedBy.delete(by);
    if (this.#closedBy.size === 0) {
      await this.open();
      return;
    }
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  }

  /** Its share of the requests that are made up, times the number of backends. */
  set share(share: number) {
    // what came until now came by the share from before
    this.#values();
    this.#model.share = share;
  }

  /** While it hangs it takes connections and says nothing; afterwards it answers what it owes. */
  hang(hung: boolean): void {
    this.#hung = hung;
    if (!hung) for (const answer of this.#owed.splice(0)) answer();
  }

  /** From its next opening on it listens on another port, or on that of the beginning. */
  move(elsewhere: boolean): void {
    this.#port = elsewhere ? 0 : this.#home;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    response.on('error', () => undefined);
    const answer = (): void => {
      const url = request.url ?? '';
      if (url.startsWith('/metrics')) this.#tell(url, response);
      else this.#serve(url, response);
    };
    if (!this.#hung) answer();
    else if (this.#owed.length < MOST_OWED) this.#owed.push(answer);
  }

  #serve(url: string, response: ServerResponse): void {
    response.setHeader(BACKEND_HEADER, this.id);
    if (this.#failing) {
      response.writeHead(500).end('told to fail');
      return;
    }
    this.#inside.add(response);
    response.once('close', () => this.#inside.delete(response));
    setTimeout(() => {
      this.#served++;
      response.end(`${this.#modelName} ${url.slice(url.lastIndexOf('/') + 1)}`);
    }, SERVICE_MS * this.#slowness);
  }

  #tell(url: string, response: ServerResponse): void {
    const lean = url.startsWith(FILTER);
    if (lean && !this.#filters) {
      response.writeHead(404).end('no filter here');
      return;
    }
    this.#collections++;
    const metrics = this.#metrics;
    switch (metrics.kind) {
      case 'hang':
        return;
      case 'loss':
        if (this.#random.uniform() >= metrics.share) this.#sendPage(lean, response);
        return;
      case 'status':
        response.writeHead(metrics.status).end('told to fail');
        return;
      case 'html':
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>Sign in</title>');
        return;
      case 'late':
        setTimeout(() => {
          this.#sendPage(lean, response);
        }, metrics.milliseconds);
        return;
      case 'live':
      case 'frozen':
      case 'idle':
      case 'stuck':
      case 'lie':
      case 'asleep':
        this.#sendPage(lean, response);
    }
  }

  #sendPage(lean: boolean, response: ServerResponse): void {
    const values = this.#told();
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(lean ? leanPage(values) : fullPage(values));
  }

  /** What it says, which may be a lie. */
  #told(): PageValues {
    const values = this.#values();
    const still = this.#still;
    switch (this.#metrics.kind) {
      case 'frozen':
        return still?.values ?? values;
      case 'idle':
        return { ...IDLE, finished: still?.values.finished ?? 0 };
      case 'stuck':
        return still === undefined || still.served !== this.#served
          ? values
          : { ...SATURATED, finished: still.values.finished };
      case 'asleep':
        return { ...IDLE, finished: values.finished, awake: 0 };
      case 'lie':
        return { ...this.#lie(values, this.#metrics.as), finished: values.finished };
      case 'live':
      case 'hang':
      case 'html':
      case 'late':
      case 'loss':
      case 'status':
        return this.#failing ? { ...IDLE, finished: values.finished } : values;
    }
  }

  #lie(values: PageValues, as: (MetricsChange & { readonly kind: 'lie' })['as']): PageValues {
    if (as === 'zero') return IDLE;
    if (as === 'max') return { ...SATURATED, queued: 1_000_000, running: 1_000_000 };
    if (as === 'saturated') return SATURATED;
    const factor = this.#collections % 2 === 0 ? 10 : 0.1;
    return { ...values, queued: Math.round(2 * factor), running: Math.round(values.running * factor) };
  }

  #values(): PageValues {
    const load = this.#model.at((performance.now() - this.#startedMs) / 1000);
    return { ...load, running: load.running + this.#inside.size, awake: 1 };
  }
}

const IDLE: PageValues = { queued: 0, running: 0, kv: 0, finished: 0, awake: 1 };
const SATURATED: PageValues = { queued: 40, running: 32, kv: 1, finished: 0, awake: 1 };

import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { PAGE_BYTES_MAX } from '../core/limits.ts';
import type { Backend, CollectFailureKind, CollectSettings } from '../core/model.ts';
import { printable } from '../runtime/text.ts';
import { fetchFailure } from './fetch-failure.ts';
import { openSocket } from './open-socket.ts';
import { OpeningGate } from './opening-gate.ts';
import type { PageResult, PageSource } from './page-source.ts';

const HEADER_BYTES_MAX = 16 * 1024;
/** What is read of an answer that is not used, so that its connection can be kept. */
const UNUSED_BYTES_MAX = 64 * 1024;

/** For the whole process: a fleet that comes up at once shall not flood the network with handshakes. */
const openings = new OpeningGate(256);

/** Between two fetches: undici opens a connection again after an answer that was cut off, and there is no use for it. */
const IDLE = AbortSignal.abort();

type Stage = 'no connection' | 'no answer' | 'page incomplete';

/**
 * Fetches one backend's metrics page over HTTP/1.1 on one kept connection. Redirects are not followed, proxy variables
 * of the environment have no effect, and nothing but a status of 200 with an unencoded body counts.
 *
 * An idle connection is closed after 4 s, or earlier where the server announces so: uvicorn does after 5 s.
 */
export class PageClient implements PageSource {
  readonly #backend: Backend;
  readonly #settings: CollectSettings;
  readonly #gate: OpeningGate;
  readonly #client: Client;
  readonly #headers: Readonly<Record<string, string>>;
  /** Ends the fetch under way. */
  #signal: AbortSignal = IDLE;
  #stage: Stage = 'no answer';
  /** Connections that were begun. */
  #connections = 0;
  /** Settles when the latest connection is open or has failed; never rejects. */
  #opening: Promise<void> = Promise.resolve();
  /** What the latest connection broke with, by the operating system. */
  #broken: Error | undefined;

  constructor(backend: Backend, settings: CollectSettings, gate: OpeningGate = openings) {
    this.#backend = backend;
    this.#settings = settings;
    this.#gate = gate;
    this.#headers = {
      accept: 'text/plain;version=0.0.4;q=1,*/*;q=0.1',
      'accept-encoding': 'identity',
      'user-agent': 'plimsoll',
      ...(settings.host === undefined ? {} : { host: settings.host }),
    };
    this.#client = new Client(`http://${backend.id}`, {
      connect: (_, callback) => {
        this.#opening = this.#connect(callback);
      },
      pipelining: 1,
      keepAliveTimeout: 4000,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: HEADER_BYTES_MAX,
      maxResponseSize: PAGE_BYTES_MAX,
    });
  }

  async fetch(signal: AbortSignal): Promise<PageResult> {
    this.#signal = signal;
    try {
      return await this.#fetch(signal);
    } finally {
      this.#signal = IDLE;
    }
  }

  async close(): Promise<void> {
    await this.#client.destroy();
    await this.#opening;
  }

  /** A reset of a kept connection before any answer is no failure: the server had closed it. It is tried once more. */
  async #fetch(signal: AbortSignal): Promise<PageResult> {
    const connections = this.#connections;
    const result = await this.#request(signal);
    const kept = this.#connections === connections;
    const reset = result.kind === 'failure' && result.failure.kind === 'reset';
    return kept && reset && this.#stage === 'no answer' ? this.#request(signal) : result;
  }

  async #request(signal: AbortSignal): Promise<PageResult> {
    const { path, method } = this.#settings;
    this.#stage = 'no answer';
    try {
      const response = await this.#client.request({ path, method, headers: this.#headers, signal });
      this.#stage = 'page incomplete';
      return await this.#read(response, signal);
    } catch (error) {
      await this.#opening;
      return signal.aborted ? this.#timeout() : { kind: 'failure', failure: fetchFailure(error) };
    }
  }

  async #read(response: Dispatcher.ResponseData, signal: AbortSignal): Promise<PageResult> {
    const { body, headers } = response;
    const refusal = refuse(response);
    if (refusal !== undefined) {
      await body.dump({ limit: UNUSED_BYTES_MAX, signal }).catch(() => undefined);
      return refusal;
    }
    const page = await body.bytes();
    // A body that only the end of the connection ends is complete only if that was an orderly one.
    const delimited = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
    if (!delimited && this.#broken !== undefined) throw this.#broken;
    return { kind: 'page', page };
  }

  #timeout(): PageResult {
    return failure('timeout', `timeout after ${this.#settings.timeoutSeconds} s: ${this.#stage}`);
  }

  async #connect(callback: buildConnector.Callback): Promise<void> {
    this.#connections++;
    this.#stage = 'no connection';
    this.#broken = undefined;
    let socket: Socket;
    try {
      socket = await this.#open(this.#signal);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    this.#stage = 'no answer';
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // undici ends a connection by an error of its own when it is done with it.
      if (error.syscall !== undefined) this.#broken = error;
    });
    callback(null, socket);
  }

  async #open(signal: AbortSignal): Promise<Socket> {
    const leave = await this.#gate.enter(signal);
    if (leave === undefined) throw new Error('given up while waiting to be opened');
    try {
      return await openSocket(this.#backend.address, this.#backend.port, signal);
    } finally {
      leave();
    }
  }
}

/** Why an answer is not read, from its head. */
function refuse({ statusCode, headers }: Dispatcher.ResponseData): PageResult | undefined {
  if (statusCode !== 200) return failure('status', `status ${statusCode}`);
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return failure(
      'protocol',
      `content-encoding ${printable(String(encoding), 40)} where identity was asked for`,
    );
  }
  const type = String(headers['content-type'] ?? '');
  if (/^\s*text\/html\b/i.test(type)) return failure('not_metrics', `not metrics: ${printable(type, 40)}`);
  return undefined;
}

function failure(kind: CollectFailureKind, message: string): PageResult {
  return { kind: 'failure', failure: { kind, message } };
}

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, errors } from 'undici';
import { PAGE_BYTES_MAX } from '../core/limits.ts';
import type { Backend } from '../core/model/backend.ts';
import type { CollectSettings } from '../core/model/collect-settings.ts';
import { systemClock } from '../runtime/clock.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import { silentLogger } from '../runtime/log.ts';
import { type Access, AccessKeeper, type AccessTls } from './access.ts';
import { fetchFailure } from './fetch-failure.ts';
import { Opener } from './opener.ts';
import type { OpeningGate } from './opening-gate.ts';
import { failedFetch, PageReceiver } from './page-receiver.ts';
import type { PageResult, PageSource } from './page-source.ts';
import { isAlert } from './tls-error.ts';

const HEADER_BYTES_MAX = 16 * 1024;
/** Of one answer all told: in chunks, and before the answer proper, more can come than counts for the page. */
const READ_BYTES_MAX = PAGE_BYTES_MAX + 1024 * 1024;
/** Before an answer, as 103 Early Hints is. */
const INTERIM_ANSWERS_MAX = 16;

const NEWLINE = 0x0a;

/** Between two fetches: undici opens a connection again after an answer that was cut off, and there is no use for it. */
const IDLE = AbortSignal.abort();

type Stage =
  | 'headers and certificates not read'
  | 'no connection'
  | 'no TLS'
  | 'no answer'
  | 'page incomplete';
type Ready = Access & { readonly kind: 'ready' };

interface Connection {
  readonly socket: Socket;
  /** What it broke with, by the operating system or TLS. */
  broken: Error | undefined;
}

/**
 * Fetches one backend's metrics page over HTTP/1.1, plain or over TLS, on one kept connection. Redirects are not
 * followed, proxy variables of the environment have no effect, and nothing but a status of 200 with an unencoded body
 * counts.
 *
 * An idle connection is closed after 4 s, or earlier where the server announces so: uvicorn does after 5 s.
 */
export class PageClient implements PageSource {
  readonly #settings: CollectSettings;
  readonly #path: string;
  readonly #access: AccessKeeper;
  readonly #ownsAccess: boolean;
  readonly #fleeting: boolean;
  readonly #opener: Opener;
  readonly #client: Client;
  /** As it was for the fetch under way. */
  #tls: AccessTls | undefined;
  /** Ends the fetch under way. */
  #signal: AbortSignal = IDLE;
  #stage: Stage = 'no answer';
  /** Connections that were begun. */
  #connections = 0;
  #connection: Connection | undefined;
  /** Read from the connection before the request under way. */
  #bytesBefore = 0;
  #interimAnswers = 0;
  /** Of the fetch under way. */
  #receiver: PageReceiver | undefined;
  #heard: AbortSignal | undefined;
  /** Settles when the latest connection is open or has failed; never rejects. */
  #opening: Promise<void> = Promise.resolve();

  constructor(
    backend: Backend,
    settings: CollectSettings,
    options: {
      /** What all clients of a collector share; default: an own one. */
      readonly access?: AccessKeeper;
      readonly gate?: OpeningGate;
      /**
       * Whether a page is valid only until the event loop has its next turn, so that memory can be used again: a large
       * fleet would fill it with garbage faster than it can be collected. Default: false.
       */
      readonly fleeting?: boolean;
    } = {},
  ) {
    const { host, scheme, tls } = settings;
    const { address } = backend;
    const port = backend.metrics?.port ?? settings.port ?? backend.port;
    this.#path = backend.metrics?.path ?? settings.path;
    this.#settings = settings;
    this.#fleeting = options.fleeting ?? false;
    this.#ownsAccess = options.access === undefined;
    this.#access = options.access ?? new AccessKeeper({ settings, clock: systemClock, log: silentLogger });
    this.#opener = new Opener({
      address,
      port,
      name: tls?.serverName ?? host ?? address,
      gate: options.gate,
      sharedReads: this.#fleeting,
    });
    this.#client = new Client(`${scheme}://${formatHostPort(address, port)}`, {
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

  async fetch(signal: AbortSignal, path = this.#path): Promise<PageResult> {
    this.#signal = signal;
    try {
      const access = this.#access.current ?? (await this.#firstAccess(signal));
      if (access === undefined) return this.#timeout();
      return access.kind === 'failure' ? access : await this.#fetch(signal, path, access);
    } finally {
      this.#signal = IDLE;
    }
  }

  async close(): Promise<void> {
    await this.#client.destroy();
    await this.#opening;
    if (this.#ownsAccess) await this.#access.close();
  }

  /** undefined: the files are not read in time. */
  async #firstAccess(signal: AbortSignal): Promise<Access | undefined> {
    this.#stage = 'headers and certificates not read';
    if (signal.aborted) return undefined;
    await Promise.race([this.#access.ready(), once(signal, 'abort')]);
    return this.#access.current;
  }

  /** A reset of a kept connection before any answer is no failure: the server had closed it. It is tried once more. */
  async #fetch(signal: AbortSignal, path: string, access: Ready): Promise<PageResult> {
    const connections = this.#connections;
    this.#tls = access.tls;
    const result = await this.#request(signal, path, access);
    const kept = this.#connections === connections;
    const reset = result.kind === 'failure' && result.failure.kind === 'reset';
    return kept && reset && this.#stage === 'no answer' ? this.#request(signal, path, access) : result;
  }

  async #request(signal: AbortSignal, path: string, { headers }: Ready): Promise<PageResult> {
    const { method } = this.#settings;
    this.#stage = 'no answer';
    this.#bytesBefore = this.#connection?.socket.bytesRead ?? 0;
    this.#interimAnswers = 0;
    try {
      return await this.#receive({ path, method, headers }, signal);
    } catch (error) {
      await this.#opening;
      return signal.aborted ? this.#timeout() : { kind: 'failure', failure: fetchFailure(error) };
    }
  }

  #receive(request: Dispatcher.DispatchOptions, signal: AbortSignal): Promise<PageResult> {
    return new Promise((resolve, reject) => {
      let connection: Connection | undefined;
      this.#receiver = new PageReceiver(this.#fleeting, {
        onInterimAnswer: this.#onInterimAnswer,
        onHead: () => {
          this.#stage = 'page incomplete';
          // there is another one as soon as this is broken
          connection = this.#connection;
        },
        onEnd: (result, delimited) => {
          this.#receiver = undefined;
          const untold = result.kind === 'page' && !delimited;
          if (untold && connection?.broken !== undefined) reject(connection.broken);
          else resolve(untold ? endedByConnection(result.page) : result);
        },
        onError: (error) => {
          this.#receiver = undefined;
          reject(error);
        },
      });
      this.#hear(signal);
      this.#client.dispatch(request, this.#receiver);
    });
  }

  /** The signal of one fetch is mostly that of the next, too: it is listened to once. */
  #hear(signal: AbortSignal): void {
    if (signal.aborted) this.#receiver?.abort();
    if (signal === this.#heard) return;
    this.#heard = signal;
    const onAbort = (): void => {
      if (signal === this.#heard) this.#receiver?.abort();
    };
    signal.addEventListener('abort', onAbort, { once: true });
  }

  readonly #onInterimAnswer = (): void => {
    if (++this.#interimAnswers <= INTERIM_ANSWERS_MAX) return;
    throw new errors.HTTPParserError(`more than ${INTERIM_ANSWERS_MAX} interim answers`);
  };

  #timeout(): PageResult {
    return failedFetch('timeout', `timeout after ${this.#settings.timeoutSeconds} s: ${this.#stage}`);
  }

  async #connect(callback: buildConnector.Callback): Promise<void> {
    this.#connections++;
    this.#stage = 'no connection';
    let socket: Socket;
    try {
      socket = await this.#opener.open(this.#tls, this.#signal, () => {
        this.#stage = 'no TLS';
      });
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    if (socket.destroyed) {
      callback(socket.errored ?? closedAtOnce(), null);
      return;
    }
    this.#stage = 'no answer';
    const connection: Connection = { socket, broken: undefined };
    this.#connection = connection;
    this.#bytesBefore = 0;
    socket.on('readable', () => {
      if (socket.bytesRead - this.#bytesBefore <= READ_BYTES_MAX) return;
      socket.destroy(new errors.ResponseExceededMaxSizeError());
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // undici ends a connection by an error of its own when it is done with it.
      if (error.syscall !== undefined || isAlert(error)) connection.broken = error;
    });
    callback(null, socket);
  }
}

/**
 * A body that only the end of the connection ends is complete only if that was an orderly one. libuv may take a reset
 * for one, when it comes together with data: then a last line that is cut off tells.
 */
function endedByConnection(page: Uint8Array): PageResult {
  if (page.length === 0 || page.at(-1) === NEWLINE) return { kind: 'page', page };
  return failedFetch('reset', 'reset: the page ends within a line');
}

function closedAtOnce(): Error {
  return Object.assign(new Error('closed as soon as it was open'), { code: 'ECONNRESET' });
}

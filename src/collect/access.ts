import { createSecureContext, type SecureContext } from 'node:tls';
import type { CollectSettings, CollectTls } from '../core/model/collect-settings.ts';
import type { CollectFailure } from '../core/model/collection.ts';
import { type Clock, unixMs } from '../runtime/clock.ts';
import type { Credentials } from '../runtime/credentials.ts';
import { readHeaderFile } from '../runtime/header-file.ts';
import type { Logger } from '../runtime/log.ts';
import { ReloadedCredentials } from '../runtime/reloaded-credentials.ts';
import { ReloadedFiles } from '../runtime/reloaded-files.ts';

/** How a connection to a backend is secured. */
export interface AccessTls {
  /** Another one after each change of the certificates. */
  readonly context: SecureContext;
  readonly insecureSkipVerify: boolean;
}

/** What every request of a collector has in common. */
export type Access =
  | {
      readonly kind: 'ready';
      /** Names and values by turns. */
      readonly headers: string[];
      /** undefined: plain text. */
      readonly tls: AccessTls | undefined;
    }
  | { readonly kind: 'failure'; readonly failure: CollectFailure };

/** In messages. */
const FIELD = 'HttpMetricCollect';

interface Opened {
  close(): Promise<void>;
}

/**
 * The headers and certificates with which a collector reaches its backends: read once for all of them, and again when
 * their files change. A bad file leaves what was there before in force; where nothing was, collections fail with the
 * reason until it is good.
 */
export class AccessKeeper {
  readonly #settings: CollectSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #opened: Opened[] = [];
  /** By the name of the header. */
  readonly #values = new Map<string, string>();
  /** Why a file cannot be used yet, by its field. */
  readonly #reasons = new Map<string, string>();
  #tls: AccessTls | undefined;
  #current: Access | undefined;
  readonly #ready: Promise<void>;

  constructor(options: { readonly settings: CollectSettings; readonly clock: Clock; readonly log: Logger }) {
    this.#settings = options.settings;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#ready = this.#open();
  }

  /** undefined: the files are being read for the first time. */
  get current(): Access | undefined {
    return this.#current;
  }

  /** Resolves when the files have been read for the first time, good or not. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Resolves when no file is being read or watched any more. */
  async close(): Promise<void> {
    await Promise.all(this.#opened.map((one) => one.close()));
    await this.#ready;
  }

  async #open(): Promise<void> {
    const { headers, bearerTokenFile, scheme, tls } = this.#settings;
    const reading: Promise<void>[] = [];
    for (const { name, value, file } of headers) {
      if (value !== undefined) this.#values.set(name, value);
      if (file !== undefined) reading.push(this.#openHeader(`Headers.${name}.File`, file, name, ''));
    }
    if (bearerTokenFile !== undefined) {
      reading.push(this.#openHeader('BearerTokenFile', bearerTokenFile, 'authorization', 'Bearer '));
    }
    if (scheme === 'https') reading.push(this.#openTls(tls));
    if (reading.length > 0) await Promise.all(reading);
    this.#update();
  }

  async #openHeader(field: string, path: string, name: string, prefix: string): Promise<void> {
    let isOpen = false;
    const file = new ReloadedFiles({
      paths: [path],
      read: () => readHeaderFile(field, path),
      clock: this.#clock,
      observer: {
        taken: (value) => {
          this.#values.set(name, prefix + value);
          this.#good(field);
          if (isOpen) this.#log.info(`${FIELD}.${field}: the new file is in force`);
        },
        refused: (reason) => {
          const message = `${FIELD}.${field}: the new file is refused, what was in force stays`;
          this.#log.error({ reason: `${FIELD}.${reason}` }, message);
        },
      },
    });
    this.#opened.push(file);
    const reason = await file.open();
    isOpen = true;
    if (reason !== undefined) this.#bad(field, `${FIELD}.${reason}`);
  }

  async #openTls(tls: CollectTls | undefined): Promise<void> {
    const { caFile, certFile, keyFile, insecureSkipVerify = false } = tls ?? {};
    const use = ({ cert, key, ca }: Pick<Credentials, 'cert' | 'key' | 'ca'>): void => {
      const context = createSecureContext({ cert, key, ...(ca === undefined ? {} : { ca: [...ca] }) });
      this.#tls = { context, insecureSkipVerify };
    };
    if (caFile === undefined && certFile === undefined) {
      use({ cert: undefined, key: undefined, ca: undefined });
      return;
    }
    const credentials = new ReloadedCredentials({
      field: `${FIELD}.Tls`,
      files: { caFile, certFile, keyFile },
      clock: this.#clock,
      unixMs,
      log: this.#log,
      observer: {
        credentialsTaken: (taken) => {
          use(taken);
          this.#good('Tls');
        },
        credentialsRefused: () => undefined,
      },
    });
    this.#opened.push(credentials);
    const reason = await credentials.openAnyway();
    if (reason !== undefined) this.#bad('Tls', reason);
  }

  #good(field: string): void {
    this.#reasons.delete(field);
    if (this.#current !== undefined) this.#update();
  }

  #bad(field: string, reason: string): void {
    this.#reasons.set(field, reason);
    this.#log.error({ reason }, `${FIELD}.${field}: cannot be used, collections fail until it can`);
  }

  #update(): void {
    const [reason] = this.#reasons.values();
    this.#current =
      reason === undefined
        ? { kind: 'ready', headers: headersOf(this.#settings, this.#values), tls: this.#tls }
        : { kind: 'failure', failure: { kind: 'credentials', message: reason } };
  }
}

/** Our own, unless the configuration has others, and those of the configuration. */
function headersOf({ host }: CollectSettings, values: ReadonlyMap<string, string>): string[] {
  const others = new Set([...values.keys()].map((name) => name.toLowerCase()));
  const own = [
    ['accept', 'text/plain;version=0.0.4;q=1,*/*;q=0.1'],
    ['accept-encoding', 'identity'],
    ['user-agent', 'plimsoll'],
    ...(host === undefined ? [] : [['host', host]]),
  ].filter(([name = '']) => !others.has(name));
  return [...own, ...values].flat();
}

import type { Clock } from './clock.ts';
import {
  type CredentialFiles,
  type Credentials,
  type ReadCredentials,
  readCredentials,
  type Validity,
} from './credentials.ts';
import { PlimsollError } from './errors.ts';
import { FileWatch } from './file-watch.ts';
import type { Logger } from './log.ts';

/** Files that are bad may be half written: only what is still the same after this long is complained about. */
const SETTLE_MS = 1_000;

/** Is told what happens to the files. */
export interface CredentialsObserver {
  /** These are in force from now on. */
  credentialsTaken(credentials: Credentials): void;
  /** New ones were refused; those from before stay in force. */
  credentialsRefused(): void;
}

/**
 * The credentials of a TLS server, read again whenever the files change. Files that are bad, or that hold an expired
 * certificate in place of a valid one, change nothing: that is logged and told once.
 */
export class ReloadedCredentials {
  readonly #field: string;
  readonly #files: CredentialFiles;
  readonly #clock: Clock;
  readonly #unixMs: () => number;
  readonly #log: Logger;
  readonly #observer: CredentialsObserver;
  #watch: FileWatch | undefined;
  #cancelSettling: (() => void) | undefined;
  #current: (ReadCredentials & { readonly kind: 'good' }) | undefined;
  /** The digest of bad files that may be half written. */
  #suspect = '';
  #suspectSinceMs = 0;
  /** The digest of files that were refused for good. */
  #refused = '';
  /** The digest of the files in force of which it has been said that they are not valid now. */
  #warnedOf = '';
  #checks = Promise.resolve();
  #closed = false;

  constructor(options: {
    /** The part of the configuration that names the files, for messages. */
    readonly field: string;
    readonly files: CredentialFiles;
    readonly clock: Clock;
    /** Wall-clock time, by which certificates expire. */
    readonly unixMs: () => number;
    readonly log: Logger;
    readonly observer: CredentialsObserver;
  }) {
    this.#field = options.field;
    this.#files = options.files;
    this.#clock = options.clock;
    this.#unixMs = options.unixMs;
    this.#log = options.log;
    this.#observer = options.observer;
  }

  /**
   * Reads the files and watches them from then on. An expired certificate is taken, with a warning: it is replaced as
   * soon as there is another one.
   * @throws PlimsollError `io` when they are no good.
   */
  async open(): Promise<void> {
    this.#watch = new FileWatch({
      paths: Object.values(this.#files).filter((path) => path !== undefined),
      clock: this.#clock,
      onChange: () => {
        this.#check();
      },
    });
    const read = await readCredentials(this.#files);
    if (read.kind === 'bad') {
      await this.close();
      throw new PlimsollError('io', `${this.#field}.${read.reason}`);
    }
    this.#take(read);
    this.#warnOfExpiry(read);
  }

  /** Resolves when the checks that have begun are done. */
  settled(): Promise<void> {
    return this.#checks;
  }

  /** Resolves when the files are not being read any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watch?.close();
    this.#cancelSettling?.();
    await this.settled();
  }

  /** One after the other, however they come. */
  #check(): void {
    this.#checks = this.#checks.then(async () => {
      const read = await readCredentials(this.#files);
      if (!this.#closed) this.#judge(read);
    });
  }

  #judge(read: ReadCredentials): void {
    const reason = read.kind === 'bad' ? read.reason : this.#whyNotValid(read);
    if (reason !== undefined) {
      this.#refuse(read.digest, reason);
      return;
    }
    if (read.kind === 'good' && read.digest !== this.#current?.digest) {
      this.#take(read);
      const validUntil = new Date(read.credentials.validMs[1]).toISOString();
      this.#log.info({ validUntil }, `${this.#field}: new files are in force for new connections`);
    }
    this.#cancelSettling?.();
    this.#suspect = '';
    this.#refused = '';
    if (read.kind === 'good') this.#warnOfExpiry(read);
  }

  #take(read: ReadCredentials & { readonly kind: 'good' }): void {
    this.#current = read;
    this.#observer.credentialsTaken(read.credentials);
  }

  #refuse(digest: string, reason: string): void {
    if (digest === this.#refused) return;
    const nowMs = this.#clock.now();
    if (digest !== this.#suspect) {
      this.#suspect = digest;
      this.#suspectSinceMs = nowMs;
      this.#cancelSettling?.();
      this.#cancelSettling = this.#clock.schedule(SETTLE_MS, () => {
        this.#check();
      });
    }
    if (nowMs - this.#suspectSinceMs < SETTLE_MS) return;
    this.#refused = digest;
    this.#observer.credentialsRefused();
    this.#log.error(
      { reason: `${this.#field}.${reason}` },
      `${this.#field}: new files are refused, those from before stay in force`,
    );
  }

  /** Not valid now, in place of one that is. */
  #whyNotValid({ digest, credentials }: ReadCredentials & { readonly kind: 'good' }): string | undefined {
    if (digest === this.#current?.digest) return undefined;
    if (this.#isValid(this.#current?.credentials) && !this.#isValid(credentials)) {
      return `CertFile ${this.#files.certFile}: is ${inWords(credentials.validMs)}, not now`;
    }
    if (this.#hasValidAuthority(this.#current?.credentials) && !this.#hasValidAuthority(credentials)) {
      const each = credentials.clientCaValidMs.map(inWords).join(', ');
      return `ClientCaFile ${this.#files.clientCaFile ?? ''}: is ${each}, not now`;
    }
    return undefined;
  }

  #isValid(credentials: Credentials | undefined): boolean {
    return credentials !== undefined && this.#includesNow(credentials.validMs);
  }

  /** Or needs none. */
  #hasValidAuthority(credentials: Credentials | undefined): boolean {
    if (credentials === undefined) return false;
    const { clientCa, clientCaValidMs } = credentials;
    return clientCa === undefined || clientCaValidMs.some((validity) => this.#includesNow(validity));
  }

  #includesNow([from, until]: Validity): boolean {
    const now = this.#unixMs();
    return from <= now && now < until;
  }

  #warnOfExpiry({ digest, credentials }: ReadCredentials & { readonly kind: 'good' }): void {
    if (this.#isValid(credentials) || this.#warnedOf === digest) return;
    this.#warnedOf = digest;
    const [validFrom, validUntil] = credentials.validMs.map((ms) => new Date(ms).toISOString());
    this.#log.error({ validFrom, validUntil }, `${this.#field}: the certificate in force is not valid now`);
  }
}

function inWords(validity: Validity): string {
  const [from, until] = validity.map((ms) => new Date(ms).toISOString());
  return `valid from ${from} until ${until}`;
}

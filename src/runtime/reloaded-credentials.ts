import type { Clock } from './clock.ts';
import {
  authoritiesOf,
  type CredentialFiles,
  type Credentials,
  readCredentials,
  type Validity,
} from './credentials.ts';
import { PlimsollError } from './errors.ts';
import type { Logger } from './log.ts';
import { ReloadedFiles } from './reloaded-files.ts';

/** Is told what happens to the files. */
export interface CredentialsObserver {
  /** These are in force from now on. */
  credentialsTaken(credentials: Credentials): void;
  /** New ones were refused; those from before stay in force. */
  credentialsRefused(): void;
}

/**
 * The credentials of one side of TLS, read again whenever the files change. Files that are bad, or that hold an expired
 * certificate in place of a valid one, change nothing: that is logged and told once.
 */
export class ReloadedCredentials {
  readonly #field: string;
  readonly #files: CredentialFiles;
  readonly #unixMs: () => number;
  readonly #log: Logger;
  readonly #observer: CredentialsObserver;
  readonly #reloaded: ReloadedFiles<Credentials>;
  #isOpen = false;
  /** Those in force of which it has been said that they are not valid now. */
  #warnedOf: Credentials | undefined;

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
    this.#unixMs = options.unixMs;
    this.#log = options.log;
    this.#observer = options.observer;
    this.#reloaded = new ReloadedFiles({
      paths: Object.values(options.files).filter((path) => path !== undefined),
      read: () => readCredentials(options.files),
      whyNot: (next, current) => this.#whyNotValid(next, current),
      clock: options.clock,
      observer: {
        taken: (credentials) => {
          this.#taken(credentials);
        },
        refused: (reason) => {
          this.#refused(reason);
        },
        confirmed: (credentials) => {
          this.#warnOfExpiry(credentials);
        },
      },
    });
  }

  /**
   * Reads the files and watches them from then on. An expired certificate is taken, with a warning: it is replaced as
   * soon as there is another one.
   * @throws PlimsollError `io` when they are no good.
   */
  async open(): Promise<void> {
    const reason = await this.openAnyway();
    if (reason === undefined) return;
    await this.close();
    throw new PlimsollError('io', reason);
  }

  /**
   * Like {@link open}, but files that are no good are watched as well, and taken as soon as they are good.
   * @returns why they are no good; undefined: they are in force.
   */
  async openAnyway(): Promise<string | undefined> {
    const reason = await this.#reloaded.open();
    this.#isOpen = true;
    return reason === undefined ? undefined : `${this.#field}.${reason}`;
  }

  /** Resolves when the checks that have begun are done. */
  settled(): Promise<void> {
    return this.#reloaded.settled();
  }

  /** Resolves when the files are not being read any more. */
  close(): Promise<void> {
    return this.#reloaded.close();
  }

  #taken(credentials: Credentials): void {
    this.#observer.credentialsTaken(credentials);
    if (!this.#isOpen) return;
    const until = credentials.validMs[1];
    const validUntil = Number.isFinite(until) ? new Date(until).toISOString() : undefined;
    this.#log.info({ validUntil }, `${this.#field}: new files are in force for new connections`);
  }

  #refused(reason: string): void {
    this.#observer.credentialsRefused();
    this.#log.error(
      { reason: `${this.#field}.${reason}` },
      `${this.#field}: new files are refused, those from before stay in force`,
    );
  }

  /** Not valid now, in place of one that is. */
  #whyNotValid(next: Credentials, current: Credentials | undefined): string | undefined {
    if (this.#isValid(current) && !this.#isValid(next)) {
      return `CertFile ${this.#files.certFile ?? ''}: is ${inWords(next.validMs)}, not now`;
    }
    if (this.#hasValidAuthority(current) && !this.#hasValidAuthority(next)) {
      const each = next.caValidMs.map(inWords).join(', ');
      const { field, path } = authoritiesOf(this.#files) ?? { field: '', path: '' };
      return `${field} ${path}: is ${each}, not now`;
    }
    return undefined;
  }

  #isValid(credentials: Credentials | undefined): boolean {
    return credentials !== undefined && this.#includesNow(credentials.validMs);
  }

  /** Or needs none. */
  #hasValidAuthority(credentials: Credentials | undefined): boolean {
    if (credentials === undefined) return false;
    const { ca, caValidMs } = credentials;
    return ca === undefined || caValidMs.some((validity) => this.#includesNow(validity));
  }

  #includesNow([from, until]: Validity): boolean {
    const now = this.#unixMs();
    return from <= now && now < until;
  }

  #warnOfExpiry(credentials: Credentials): void {
    if (this.#isValid(credentials) || this.#warnedOf === credentials) return;
    this.#warnedOf = credentials;
    const [validFrom, validUntil] = credentials.validMs.map((ms) => new Date(ms).toISOString());
    this.#log.error({ validFrom, validUntil }, `${this.#field}: the certificate in force is not valid now`);
  }
}

function inWords(validity: Validity): string {
  const [from, until] = validity.map((ms) => new Date(ms).toISOString());
  return `valid from ${from} until ${until}`;
}

import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsFiles } from '../core/model/configuration.ts';
import { type Clock, unixMs } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { LogLimiter } from '../runtime/log-limiter.ts';
import { type CredentialsObserver, ReloadedCredentials } from '../runtime/reloaded-credentials.ts';
import { type HandshakeFailure, Handshakes } from './handshakes.ts';

/** Is told what happens to the certificates and to those who do not get through. */
export interface TlsObserver {
  /** These files are in force. @param validUntilMs Unix time */
  certificateTaken(validUntilMs: number): void;
  /** New files were refused; those from before stay in force. */
  certificateRefused(): void;
  handshakeFailed(reason: HandshakeFailure): void;
}

export interface TlsSettings {
  readonly files: TlsFiles;
  readonly observer: TlsObserver;
}

/** Each takes a millisecond or two of work, so that an honest client is through long before as many more have come. */
const HANDSHAKES_MAX = 2_000;

/** Stands before a server of plain HTTP/2: takes connections and hands on those that got through TLS. */
export class TlsFront {
  readonly #credentials: ReloadedCredentials;
  readonly #handshakes: Handshakes;

  constructor(options: {
    readonly settings: TlsSettings;
    readonly clock: Clock;
    readonly log: Logger;
    readonly warnings: LogLimiter;
    readonly accept: (socket: TLSSocket) => void;
  }) {
    const { clock, log, warnings, accept } = options;
    const { files, observer } = options.settings;
    const handshakes = new Handshakes({
      clock,
      warnings,
      limit: HANDSHAKES_MAX,
      accept,
      failed: (reason) => {
        observer.handshakeFailed(reason);
      },
    });
    const credentialsObserver: CredentialsObserver = {
      credentialsTaken: (credentials) => {
        handshakes.use(credentials);
        observer.certificateTaken(credentials.validMs[1]);
      },
      credentialsRefused: () => {
        observer.certificateRefused();
      },
    };
    this.#handshakes = handshakes;
    this.#credentials = new ReloadedCredentials({
      field: 'Xds.Tls',
      files,
      clock,
      unixMs,
      log,
      observer: credentialsObserver,
    });
  }

  /**
   * Reads the files, and watches them until {@link close}.
   * @throws PlimsollError `io` when they are no good.
   */
  open(): Promise<void> {
    return this.#credentials.open();
  }

  /** Takes a connection that has just been made. */
  begin(socket: Socket): void {
    this.#handshakes.begin(socket);
  }

  /** Connections that are there live on. */
  close(): Promise<void> {
    return this.#credentials.close();
  }
}

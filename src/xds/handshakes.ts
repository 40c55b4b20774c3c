import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Clock } from '../runtime/clock.ts';
import type { Credentials } from '../runtime/credentials.ts';
import type { LogLimiter } from '../runtime/log-limiter.ts';
import { clientOf } from './client.ts';

/** From the connection to the end of its handshake, however much is sent meanwhile. */
const HANDSHAKE_MS = 10_000;

/** Why a client did not get through: a bounded set, it becomes a metric label. */
export type HandshakeFailure =
  | 'timeout'
  /** Too many handshakes at a time. */
  | 'crowded'
  | 'no_client_certificate'
  /** Expired, of another authority, not for clients, … */
  | 'client_certificate_refused'
  /** By the client. */
  | 'server_certificate_refused'
  /** It closed the connection in the middle, without a word: mostly it does not trust the server. */
  | 'gone'
  /** The client does not offer HTTP/2 by ALPN. */
  | 'no_h2'
  /** An old version of TLS, or none at all. */
  | 'protocol';

interface Handshake {
  readonly key: string;
  readonly peer: string;
  /** Where it comes from, as limits count it. */
  readonly from: string;
  readonly socket: Socket;
  readonly cancel: () => void;
}

/** Brings connections through the TLS handshake. Who goes away without having said anything, as a health check does, is no failure. */
export class Handshakes {
  readonly #clock: Clock;
  readonly #warnings: LogLimiter;
  readonly #limit: number;
  readonly #failed: (reason: HandshakeFailure) => void;
  readonly #accept: (socket: TLSSocket) => void;
  /** By both ends of the connection. */
  readonly #open = new Map<string, Handshake>();
  /** By where they come from, each oldest first. */
  readonly #from = new Map<string, Set<Handshake>>();
  /** Its connection is just being closed: by then a TLS socket does not know its ends any more. */
  #closing: Handshake | undefined;
  /** Never listens: connections are handed to it. */
  #server: Server | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly warnings: LogLimiter;
    /**
     * Handshakes at a time. Beyond it one of those who have the most goes, the oldest: who is honest needs a moment,
     * who is not takes for ever.
     */
    readonly limit: number;
    readonly failed: (reason: HandshakeFailure) => void;
    /** Is given each connection that got through. */
    readonly accept: (socket: TLSSocket) => void;
  }) {
    this.#clock = options.clock;
    this.#warnings = options.warnings;
    this.#limit = options.limit;
    this.#failed = options.failed;
    this.#accept = options.accept;
  }

  /** Uses these from the next connection on; those that are there live on. With client authorities every client needs a certificate. */
  use({ cert, key, ca }: Credentials): void {
    const server = createServer({
      cert,
      key,
      ...(ca === undefined ? {} : { ca: [...ca], requestCert: true, rejectUnauthorized: true }),
      ALPNProtocols: ['h2'],
      minVersion: 'TLSv1.2',
      // a resumed session would bring back a certificate that has expired or lost its authority meanwhile
      secureOptions: constants.SSL_OP_NO_TICKET,
    });
    server.on('secureConnection', (socket) => {
      this.#succeed(socket);
    });
    server.on('tlsClientError', (error, socket) => {
      this.#error(error, socket);
    });
    this.#server = server;
  }

  /** Takes a connection that has just been made. */
  begin(socket: Socket): void {
    const key = keyOf(socket);
    if (key === undefined || this.#server === undefined) {
      socket.destroy();
      return;
    }
    const cancel = this.#clock.schedule(HANDSHAKE_MS, () => {
      this.#abort(handshake, 'timeout');
    });
    const peer = socket.remoteAddress ?? '';
    const handshake = { key, peer, from: clientOf(undefined, peer).key, socket, cancel };
    if (this.#open.size >= this.#limit) this.#makeRoom();
    this.#add(handshake);
    socket.once('close', () => {
      if (this.#end(handshake)) this.#closing = handshake;
    });
    this.#server.emit('connection', socket);
  }

  #add(handshake: Handshake): void {
    const { key, from } = handshake;
    this.#open.set(key, handshake);
    this.#from.set(from, (this.#from.get(from) ?? new Set()).add(handshake));
  }

  #makeRoom(): void {
    let most: ReadonlySet<Handshake> = new Set();
    for (const each of this.#from.values()) if (each.size > most.size) most = each;
    const [oldest] = most;
    if (oldest !== undefined) this.#abort(oldest, 'crowded');
  }

  #succeed(socket: TLSSocket): void {
    const handshake = this.#open.get(keyOf(socket) ?? '');
    // What goes wrong from here on shows in the close of the connection.
    socket.on('error', () => undefined);
    if (handshake !== undefined) this.#end(handshake);
    if (handshake !== undefined && socket.alpnProtocol === 'h2') {
      this.#accept(socket);
      return;
    }
    if (handshake !== undefined) this.#tell(handshake, 'no_h2', '');
    // never the connection below it: Node crashes when that goes while OpenSSL is at work on it, as here
    socket.destroy();
  }

  #error(error: Error & { readonly code?: string }, socket: TLSSocket): void {
    const handshake = this.#open.get(keyOf(socket) ?? '') ?? this.#closing;
    this.#closing = undefined;
    if (handshake === undefined) return;
    this.#end(handshake);
    const refused = socket.authorizationError as Error | string | null | undefined;
    const code = refused == null ? (error.code ?? 'unknown') : String(refused);
    const reason = refused == null ? failureOf(code) : 'client_certificate_refused';
    if (reason !== 'gone' || handshake.socket.bytesRead > 0) this.#tell(handshake, reason, code);
  }

  #abort(handshake: Handshake, reason: HandshakeFailure): void {
    this.#end(handshake);
    this.#tell(handshake, reason, '');
    handshake.socket.destroy();
  }

  /** @returns whether it had not ended before. */
  #end(handshake: Handshake): boolean {
    const { key, from, cancel } = handshake;
    cancel();
    const same = this.#from.get(from);
    same?.delete(handshake);
    if (same?.size === 0) this.#from.delete(from);
    return this.#open.delete(key);
  }

  #tell({ peer }: Handshake, reason: HandshakeFailure, code: string): void {
    this.#failed(reason);
    this.#warnings.warn(
      `handshake ${reason} ${code}`,
      peer,
      { peer, reason, ...(code === '' ? {} : { code }) },
      'a client did not get through the TLS handshake',
    );
  }
}

/** Both ends of a connection; undefined: it is closed already. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | undefined {
  if (remoteAddress === undefined) return undefined;
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function failureOf(code: string): HandshakeFailure {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'gone';
  if (code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE') return 'no_client_certificate';
  if (code === 'ERR_SSL_NO_APPLICATION_PROTOCOL') return 'no_h2';
  if (/ALERT_(?:.*CERTIFICATE|UNKNOWN_CA)/.test(code)) return 'server_certificate_refused';
  return 'protocol';
}

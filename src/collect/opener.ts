import type { Socket } from 'node:net';
import { systemClock } from '../runtime/clock.ts';
import type { AccessTls } from './access.ts';
import { openSocket } from './open-socket.ts';
import { OpeningGate } from './opening-gate.ts';
import { secureSocket } from './secure-socket.ts';

/** For the whole process: a fleet that comes up at once shall not flood the network with handshakes. */
const openings = new OpeningGate(256);

/** So long a handshake of TLS keeps others from opening their connections; it may take longer. */
const HANDSHAKE_TURN_MS = 3000;

/** Opens the connections to one backend, one at a time, each when its turn comes. */
export class Opener {
  readonly #address: string;
  readonly #port: number;
  readonly #name: string;
  readonly #gate: OpeningGate;
  readonly #sharedReads: boolean;
  /** To resume TLS with, in the context that it is of. */
  #session: { readonly of: AccessTls; readonly session: Buffer } | undefined;

  /** @param options.name whose certificate it must be: a domain name, or an IP address */
  constructor(options: {
    readonly address: string;
    readonly port: number;
    readonly name: string;
    /** Default: that of the whole process. */
    readonly gate?: OpeningGate | undefined;
    /** Of connections without TLS: see {@link sharedRead}. Default: false. */
    readonly sharedReads?: boolean;
  }) {
    this.#address = options.address;
    this.#port = options.port;
    this.#name = options.name;
    this.#gate = options.gate ?? openings;
    this.#sharedReads = options.sharedReads ?? false;
  }

  /**
   * @param tls undefined: plain text
   * @param signal gives up while it is opening
   * @param onConnected called before the handshake of TLS
   */
  async open(tls: AccessTls | undefined, signal: AbortSignal, onConnected: () => void): Promise<Socket> {
    const leave = await this.#gate.enter(signal);
    if (leave === undefined) throw new Error('given up while waiting to be opened');
    let cancelTurn = (): void => undefined;
    try {
      const sharedReads = this.#sharedReads && tls === undefined;
      const socket = await openSocket({ address: this.#address, port: this.#port, sharedReads, signal });
      if (tls === undefined) return socket;
      onConnected();
      cancelTurn = systemClock.schedule(HANDSHAKE_TURN_MS, leave);
      return await this.#secure(socket, tls, signal);
    } finally {
      cancelTurn();
      leave();
    }
  }

  async #secure(socket: Socket, tls: AccessTls, signal: AbortSignal): Promise<Socket> {
    const session = this.#session?.of === tls ? this.#session.session : undefined;
    const secure = await secureSocket({ socket, tls, name: this.#name, session, signal });
    secure.on('session', (next) => {
      this.#session = { of: tls, session: next };
    });
    return secure;
  }
}

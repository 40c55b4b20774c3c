import { connect, type Socket } from 'node:net';
import { sharedRead } from './shared-read.ts';

/** Long enough for a lost SYN to be sent again, after 1 s. */
const OPENING_SECONDS_MAX = 3;

/**
 * Opens a TCP connection to an IP literal, within {@link OPENING_SECONDS_MAX}.
 * @param options.sharedReads see {@link sharedRead}
 * @param options.signal gives up and frees the socket while it is opening; afterwards it has no effect
 */
export function openSocket(options: {
  readonly address: string;
  readonly port: number;
  readonly sharedReads: boolean;
  readonly signal: AbortSignal;
}): Promise<Socket> {
  const { address, port, sharedReads, signal } = options;
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({
      host: address,
      port,
      noDelay: true,
      timeout: OPENING_SECONDS_MAX * 1000,
      ...(sharedReads ? { onread: sharedRead(() => socket) } : {}),
    });
    const onAbort = (): void => {
      socket.destroy(new Error('given up while opening'));
    };
    const onTimeout = (): void => {
      const error = new Error(`no connection within ${OPENING_SECONDS_MAX} s`);
      socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
    };
    const onConnect = (): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      // an error that comes before whoever gets it listens must not end the process
      socket.on('error', ignore);
      socket.setTimeout(0, onTimeout);
      resolve(socket);
    };
    const onError = (error: Error): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('connect', onConnect);
      reject(error);
    };
    socket.once('timeout', onTimeout);
    socket.once('connect', onConnect);
    socket.once('error', onError);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function ignore(): void {
  // the socket is destroyed, which tells
}

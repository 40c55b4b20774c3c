import { isIP, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { AccessTls } from './access.ts';
import { isOfTls, TlsError } from './tls-error.ts';

/**
 * Makes a connection that has just been opened a TLS one, and checks who is on the other side.
 * @param name whose certificate it must be, a domain name (which is asked for by SNI) or an IP address
 * @param session of an earlier connection to the same side in the same context; it spares work
 * @param signal gives up and frees the socket meanwhile; afterwards it has no effect
 * @throws TlsError, or an error of the connection
 */
export function secureSocket(options: {
  readonly socket: Socket;
  readonly tls: AccessTls;
  readonly name: string;
  readonly session: Buffer | undefined;
  readonly signal: AbortSignal;
}): Promise<TLSSocket> {
  const { socket, tls, name, session, signal } = options;
  return new Promise((resolve, reject) => {
    const secure = connect({
      socket,
      secureContext: tls.context,
      rejectUnauthorized: !tls.insecureSkipVerify,
      host: name,
      servername: isIP(name) === 0 ? name : '',
      ALPNProtocols: ['http/1.1'],
      ...(session === undefined ? {} : { session }),
    });
    const onAbort = (): void => {
      secure.destroy(new Error('given up before TLS was there'));
    };
    const onSecure = (): void => {
      signal.removeEventListener('abort', onAbort);
      secure.off('error', onError);
      // an error that comes before whoever gets it listens must not end the process
      secure.on('error', ignore);
      resolve(secure);
    };
    const onError = (error: NodeJS.ErrnoException): void => {
      signal.removeEventListener('abort', onAbort);
      secure.off('secureConnect', onSecure);
      secure.destroy();
      reject(isOfTls(error) ? new TlsError(error) : error);
    };
    secure.once('secureConnect', onSecure);
    secure.once('error', onError);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function ignore(): void {
  // the socket is destroyed, which tells
}

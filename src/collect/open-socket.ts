import { connect, type Socket } from 'node:net';

/**
 * Opens a TCP connection to an IP literal.
 * @param signal gives up and frees the socket while it is opening; afterwards it has no effect
 */
export function openSocket(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true });
    const onAbort = (): void => {
      socket.destroy(new Error('given up while opening'));
    };
    const onConnect = (): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      resolve(socket);
    };
    const onError = (error: Error): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('connect', onConnect);
      reject(error);
    };
    socket.once('connect', onConnect);
    socket.once('error', onError);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

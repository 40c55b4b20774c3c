import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Begins each request of a connection when those before it have been answered: one that is pipelined could be answered
 * at once, but hears neither of a client who takes nothing nor of the end of its connection. While it waits it costs what
 * was read of it.
 *
 * @param most may wait on a connection: one more closes it.
 */
export function inTurn(listener: RequestListener, most: number): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    const begin = (): void => {
      if (!socket.destroyed) listener(request, response);
    };
    if (response.socket !== null) {
      begin();
      return;
    }
    const before = waiting.get(socket) ?? 0;
    if (before >= most) {
      socket.destroy();
      return;
    }
    waiting.set(socket, before + 1);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      // within this event an answer would end twice
      process.nextTick(begin);
    });
  };
}

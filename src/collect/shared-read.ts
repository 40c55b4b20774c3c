import type { OnReadOpts, Socket } from 'node:net';

const buffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Lets a socket read into a buffer that all of them have in common, in place of a new one for each read. What it hands
 * on is overwritten by the next read of any: whoever takes it has to use it, or copy it, in the same turn of the event
 * loop.
 * @param socket the one that this is an option of, once it is there
 */
export function sharedRead(socket: () => Socket): OnReadOpts {
  return { buffer, callback: (bytes) => socket().push(buffer.subarray(0, bytes)) };
}

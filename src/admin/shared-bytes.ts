import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { FastifyReply } from 'fastify';

/** What a client is handed at a time. */
const PORTION_BYTES = 64 * 1024;

/**
 * Sends bytes that many clients share. Plain connections share them as they are; with TLS they would be encrypted for each
 * client that is slow, so that those take them by and by. Not all do: who has ended its own side, as `nc -N` does, is
 * sent only what was handed over before.
 */
export function sendShared(reply: FastifyReply, bytes: Buffer): FastifyReply {
  if (!(reply.raw.socket instanceof TLSSocket)) return reply.send(bytes);
  reply.header('content-length', bytes.length);
  return reply.send(Readable.from(portionsOf(bytes), { objectMode: false }));
}

function* portionsOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += PORTION_BYTES) {
    yield bytes.subarray(from, from + PORTION_BYTES);
  }
}

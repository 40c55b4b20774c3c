import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** What a client is handed at a time. */
const PORTION_BYTES = 64 * 1024;

/**
 * Sends bytes that many clients share, as each of them takes them: handed over at once they would be copied for each
 * that is slow, encrypted with TLS.
 */
export function sendInPortions(reply: FastifyReply, bytes: Buffer): FastifyReply {
  reply.header('content-length', bytes.length);
  return reply.send(Readable.from(portionsOf(bytes), { objectMode: false }));
}

function* portionsOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += PORTION_BYTES) {
    yield bytes.subarray(from, from + PORTION_BYTES);
  }
}

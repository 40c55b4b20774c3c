import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from './guard.ts';

/**
 * For routes whose answers take time to make: of that many that are being made or taken, one more is answered 503, so
 * that a flood of them delays nothing else.
 */
export function atMostAtOnce(
  most: number,
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  let open = 0;
  return (_request, reply, done) => {
    if (open >= most) {
      void refuse(reply, 503, `${most} such requests are being answered already: try again`);
      return;
    }
    open += 1;
    reply.raw.once('close', () => {
      open -= 1;
    });
    done();
  };
}

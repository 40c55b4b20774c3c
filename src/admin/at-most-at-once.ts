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
  return (request, reply, done) => {
    if (open >= most) {
      void refuse(reply, 503, `${most} such requests are being answered already: try again`);
      return;
    }
    open += 1;
    // a pipelined one whose turn has not come ends with its connection, and tells nothing itself
    const ends = [reply.raw, request.raw.socket];
    let isOpen = true;
    const release = (): void => {
      for (const end of ends) end.off('close', release);
      // both may end within the same event
      if (isOpen) open -= 1;
      isOpen = false;
    };
    for (const end of ends) end.once('close', release);
    done();
  };
}

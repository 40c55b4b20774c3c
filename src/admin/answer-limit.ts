import type { FastifyInstance } from 'fastify';
import type { Clock } from '../runtime/clock.ts';

/**
 * Ends the connection of a client that has not taken a whole answer in that time: until then it costs the memory of the
 * answer. Streams, which are written without the framework, are left out.
 */
export function limitAnswers(http: FastifyInstance, clock: Clock, milliseconds: number): void {
  http.addHook('onSend', (request, reply, _payload, done) => {
    // a client that has gone is told of no more
    if (!reply.raw.destroyed) {
      const cancel = clock.schedule(milliseconds, () => {
        request.raw.socket.destroy();
      });
      reply.raw.once('close', cancel);
    }
    done();
  });
}

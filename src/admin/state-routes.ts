import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../runtime/clock.ts';
import { printable } from '../runtime/text.ts';
import { atMostAtOnce } from './at-most-at-once.ts';
import { EventHub } from './event-hub.ts';
import { headersOf } from './headers-of.ts';
import type { LiveState } from './live-state.ts';
import { sendShared } from './shared-bytes.ts';

/** Event streams at a time. */
const STREAMS_MAX = 64;
/** A page that is refused asks again 15 s later. */
const TRENDS_AT_ONCE = 16;
/** Characters of an answer that are made at a time. */
const BATCH_LENGTH = 64 * 1024;

/** `GET /state`, `GET /events`, `GET /trends/GROUP` and `GET /samples`, as state-shape.ts and sample-shape.ts describe them. */
export class StateRoutes {
  readonly #state: LiveState;
  readonly #hub: EventHub;

  constructor(http: FastifyInstance, state: LiveState, clock: Clock) {
    this.#state = state;
    this.#hub = new EventHub({ source: state, clock, limit: STREAMS_MAX });
    http.get('/state', (_request, reply) => sendShared(json(reply, 200), this.#hub.stateJson));
    http.get('/events', (request, reply) => this.#events(request, reply));
    http.get('/samples', (request, reply) => this.#samples(request, reply));
    http.get<{ Params: { group: string } }>(
      '/trends/:group',
      { onRequest: atMostAtOnce(TRENDS_AT_ONCE) },
      (request, reply) => this.#trends(request.params.group, reply),
    );
  }

  /** Ends all streams. */
  close(): void {
    this.#hub.close();
    this.#state.samples.close();
  }

  #events(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (this.#hub.isFull) return tooMany(reply, `${STREAMS_MAX} event streams are open already`);
    if (!stream(request, reply, 'text/event-stream; charset=utf-8')) return reply;
    this.#hub.add(reply.raw);
    return reply;
  }

  #samples(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { samples } = this.#state;
    if (samples.isFull) return tooMany(reply, 'so many clients read the samples already');
    if (!stream(request, reply, 'application/x-ndjson')) return reply;
    samples.add(reply.raw);
    return reply;
  }

  #trends(group: string, reply: FastifyReply): FastifyReply {
    const parts = this.#state.trends(group);
    if (parts === undefined) {
      return json(reply, 404).send({ error: `there is no server group ${printable(group)}` });
    }
    return json(reply, 200).send(Readable.from(inBatches(parts), { objectMode: false }));
  }
}

function json(reply: FastifyReply, code: number): FastifyReply {
  return reply.code(code).type('application/json; charset=utf-8');
}

function tooMany(reply: FastifyReply, what: string): FastifyReply {
  return json(reply, 503).send({ error: `${what}, which is the most: close some` });
}

/** Writes the head of an answer that does not end by itself. @returns false: only the head was asked for. */
function stream({ method }: FastifyRequest, reply: FastifyReply, type: string): boolean {
  reply.type(type).header('x-accel-buffering', 'no');
  if (method === 'HEAD') {
    void reply.send();
    return false;
  }
  reply.hijack();
  reply.raw.writeHead(200, headersOf(reply));
  return true;
}

/** Between the parts collections and sidecars get their turn. */
async function* inBatches(parts: Iterable<string>): AsyncGenerator<string> {
  let batch = '';
  for (const part of parts) {
    batch += part;
    if (batch.length < BATCH_LENGTH) continue;
    yield batch;
    batch = '';
    await nextTurn();
  }
  yield batch;
}

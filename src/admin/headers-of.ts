import type { FastifyReply } from 'fastify';

/** The headers of an answer that is written without the framework. */
export function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));
}

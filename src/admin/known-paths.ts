import type { FastifyInstance } from 'fastify';
import { printable } from '../runtime/text.ts';
import { refuse } from './guard.ts';

/** Makes whoever asks for a path that is not here see which are. Before the routes, so that it learns of them. */
export function tellKnownPaths(http: FastifyInstance): void {
  const paths = new Set<string>();
  http.addHook('onRoute', ({ url }) => {
    // what the page is made of is for the page
    if (!url.includes('*')) paths.add(url.replaceAll(/:(\w+)/g, (_, name: string) => name.toUpperCase()));
  });
  http.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    return refuse(reply, 404, `there is no path ${printable(path, 200)}`, { paths: [...paths].toSorted() });
  });
}

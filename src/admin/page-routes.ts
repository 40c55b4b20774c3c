import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** What the build makes of the page: the same folder whether this file runs from `dist` or from its source. */
const BUILT = new URL('../../dist/admin/', import.meta.url);
/** Files of packages, by the name that the page has for them. */
const PACKAGE_FILES: ReadonlyMap<string, string> = new Map([
  ['uplot.js', 'uplot/dist/uPlot.iife.min.js'],
  ['uplot.css', 'uplot/dist/uPlot.min.css'],
]);
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['html', 'text/html; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['svg', 'image/svg+xml'],
]);
/** Modules of the page and of the words that it shares with the commands, and what stands beside them. */
const NAME = /^(page|page\/view|words)\/[a-z0-9-]+\.(js|css|svg)$/;

/** Own files only, nothing inline, and no text that becomes markup. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-cache',
};

/** `GET /`: the live page, and what it is made of under `/assets/`. None of it tells anything of the fleet. */
export function addPageRoutes(http: FastifyInstance): void {
  http.get('/', (request, reply) => send(request, reply, new URL('page/index.html', BUILT)));
  http.get<{ Params: { '*': string } }>('/assets/*', (request, reply) => {
    const name = request.params['*'];
    const ofPackage = PACKAGE_FILES.get(name);
    if (ofPackage !== undefined) return send(request, reply, new URL(import.meta.resolve(ofPackage)));
    return NAME.test(name) ? send(request, reply, new URL(name, BUILT)) : notFound(reply);
  });
}

async function send(request: FastifyRequest, reply: FastifyReply, file: URL): Promise<FastifyReply> {
  const body = await readFile(file).catch(() => undefined);
  if (body === undefined) return notFound(reply);
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  reply.headers({ ...HEADERS, etag });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const extension = file.pathname.slice(file.pathname.lastIndexOf('.') + 1);
  return reply.type(CONTENT_TYPES.get(extension) ?? 'application/octet-stream').send(body);
}

function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).type('text/plain').send('not found; a checkout needs `npm run build` first\n');
}

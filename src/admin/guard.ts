import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { printable } from '../runtime/text.ts';

/** What is asked of whoever asks. */
export interface GuardOptions {
  /** Names, in lower case, that requests may come in under besides `localhost` and IP addresses. */
  readonly hosts: readonly string[];
  /** Whether it is the token; undefined: none is asked for. */
  readonly isToken: ((text: string) => boolean) | undefined;
}

/** Probes that tell nothing: open to everybody, under any name. */
const OPEN: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Nothing of it may be framed, run, sniffed, shared with another origin, or kept. The page says for itself what it needs. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};

/** A header line each: of a line with several, Chromium reads but the first, and would not ask its user. */
const CHALLENGES = [
  'Bearer realm="Plimsoll"',
  'Basic realm="Plimsoll: the token is the password", charset="UTF-8"',
];

/**
 * Stands before every route of the admin address: only reading, under a name that is known, with the token if there is
 * one. A page of another origin can neither read nor ask: what a browser says of the origin of a request is heeded, and a
 * name that was pointed here to get around that (DNS rebinding) is none that is known.
 */
export function addGuard(http: FastifyInstance, options: GuardOptions): void {
  const hosts = new Set(['localhost', ...options.hosts]);
  http.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse(
        reply.header('allow', 'GET, HEAD'),
        405,
        'nothing here can be changed: only GET and HEAD',
      );
    }
    if (OPEN.has(request.url.split('?', 1)[0] ?? '')) return undefined;
    if (isFromElsewhere(request)) return refuse(reply, 403, 'asked by a page of another origin');
    const host = hostOf(request);
    if (host !== undefined && isIP(host) === 0 && !hosts.has(host)) {
      return refuse(reply, 421, `${printable(host)} is not known here: it has to stand in Admin.Hosts`);
    }
    if (options.isToken === undefined || tokensIn(request).some(options.isToken)) return undefined;
    return refuse(
      reply.header('www-authenticate', CHALLENGES),
      401,
      'needs the token of Admin.BearerTokenFile, as a bearer token or as a password',
    );
  });
}

/** Answers that, and nothing of what was asked for. `more` says what there is instead. */
export function refuse(
  reply: FastifyReply,
  code: number,
  error: string,
  more: Readonly<Record<string, unknown>> = {},
): FastifyReply {
  return reply
    .headers(HEADERS)
    .code(code)
    .type('application/json; charset=utf-8')
    .send({ error, ...more });
}

/** A link to here from elsewhere may be followed. */
function isFromElsewhere({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== 'cross-site' && site !== 'same-site') return false;
  return headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document';
}

/** Without the port and the brackets, in lower case; undefined: none is given, which no browser does. */
function hostOf({ headers }: FastifyRequest): string | undefined {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(headers.host ?? '');
  const host = (match?.[1] ?? match?.[2] ?? headers.host ?? '').toLowerCase().replace(/\.$/, '');
  return host === '' ? undefined : host;
}

/** What may be the token: a bearer's, or the password of a browser's user. */
function tokensIn({ headers }: FastifyRequest): readonly string[] {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)$/.exec(headers.authorization ?? '') ?? [];
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return [value];
    case 'basic': {
      const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(value, 'base64').toString('utf8')) ?? [];
      return password === undefined ? [] : [password];
    }
    default:
      return [];
  }
}

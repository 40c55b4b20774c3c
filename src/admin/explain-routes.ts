import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { BackendDecision } from '../core/model/decision.ts';
import type { DiscoveryStatus } from '../core/model/discovery.ts';
import type { GroupStatus } from '../core/model/group-status.ts';
import { printable } from '../runtime/text.ts';
import { atMostAtOnce } from './at-most-at-once.ts';
import type { GroupListExplanation } from './explanation.ts';
import { explanationJson } from './explanation-json.ts';
import { allGroupWarnings } from './group-warnings.ts';

/** Explanations that are being made; of a thousand backends each takes some 20 ms. */
const AT_ONCE = 16;
/** Names listed in an answer that knows no such name. */
const NAMES_MAX = 10_000;

export interface ExplainSource {
  /** The names of the server groups that are configured. */
  readonly groups: () => readonly string[];
  /** undefined: it has no decision yet. */
  readonly status: (serverGroup: string) => GroupStatus | undefined;
  /** Where a group has its backends from. Default: nothing is said of that. */
  readonly discovery?: (serverGroup: string) => DiscoveryStatus | undefined;
  /** The clock that decisions are timed by, in milliseconds. */
  readonly now: () => number;
  /** Open xDS streams that endpoints may be asked for on. */
  readonly openStreams: () => number;
}

/**
 * `GET /explain`: the server groups. `GET /explain/GROUP`: a `GroupExplanation`; with `?backend=ID`, or
 * `?backend=ADDRESS`, of those backends alone. A name that does not exist is answered 404 with those that do.
 */
export function addExplainRoutes(http: FastifyInstance, source: ExplainSource): void {
  http.get('/explain', (_request, reply) => send(reply, 200, listGroups(source)));
  http.get<{ Params: { group: string }; Querystring: Record<string, unknown> }>(
    '/explain/:group',
    { onRequest: atMostAtOnce(AT_ONCE) },
    (request, reply) => explain(source, request.params.group, request.query['backend'], reply),
  );
}

function explain(source: ExplainSource, name: string, backend: unknown, reply: FastifyReply): FastifyReply {
  const groups = source.groups();
  if (!groups.includes(name)) {
    const error = `there is no server group ${printable(name)}`;
    return send(reply, 404, { error, serverGroups: groups.slice(0, NAMES_MAX) });
  }
  const status = source.status(name);
  if (status === undefined) {
    const { source: from = '', waiting } = source.discovery?.(name) ?? {};
    const why = waiting === undefined ? '' : `, it waits for discovery: ${from}: ${waiting}`;
    return send(reply, 503, { error: `server group ${name} has not been evaluated yet${why}` });
  }
  if (backend !== undefined && typeof backend !== 'string') {
    return send(reply, 400, { error: 'backend is given more than once' });
  }
  const wanted = wantedBackends(backend);
  const { backends } = status.newest;
  if (backend !== undefined && !backends.some(wanted)) {
    const error = `server group ${name} has no backend ${printable(backend)}`;
    return send(reply, 404, { error, backends: backends.slice(0, NAMES_MAX).map((of) => of.backend.id) });
  }
  const { now, openStreams } = source;
  const json = explanationJson({
    status,
    nowMs: now(),
    openStreams: openStreams(),
    discovery: source.discovery?.(name),
    wanted,
  });
  return send(reply, 200, Readable.from(json, { objectMode: false }));
}

function wantedBackends(name: string | undefined): (of: BackendDecision) => boolean {
  return ({ backend }) => name === undefined || backend.id === name || backend.address === name;
}

function listGroups({ groups, status, discovery, now }: ExplainSource): GroupListExplanation {
  const nowMs = now();
  return {
    serverGroups: groups().map((serverGroup) => {
      const newest = status(serverGroup)?.newest;
      return {
        serverGroup,
        mode: newest?.mode ?? null,
        backends: newest?.backends.length ?? 0,
        warnings: allGroupWarnings(newest, discovery?.(serverGroup), nowMs).length,
      };
    }),
  };
}

/** @param answer a stream of JSON, or what becomes JSON */
function send(reply: FastifyReply, code: number, answer: object): FastifyReply {
  return reply.code(code).type('application/json; charset=utf-8').send(answer);
}

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import { printable } from '../../runtime/text.ts';
import type { ApiAccess } from './access.ts';
import { type ApiFailure, failureOf, inWords, oddAnswer, pathOf, type Resource } from './failure.ts';
import { LineSplitter } from './line-splitter.ts';
import { Patience } from './patience.ts';

/** A page of a list must be complete by then, and a watch must have begun. */
const ANSWER_MS = 30_000;
/** A watch without a word for so long hangs: the API server sends a bookmark about once a minute. */
const SILENCE_MS = 90_000;
const PAGE_BYTES_MAX = 64 * 1024 * 1024;
/** etcd keeps objects of 1.5 MiB. */
const EVENT_BYTES_MAX = 8 * 1024 * 1024;
const COMPLAINT_BYTES_MAX = 64 * 1024;

export type Query = Readonly<Record<string, string>>;

export type Answer =
  | { readonly kind: 'answer'; readonly body: unknown }
  | { readonly kind: 'failure'; readonly failure: ApiFailure };

/** What a watch is told. */
export interface WatchReader {
  /** The API server has taken the watch. */
  opened(): void;
  /** @returns why the watch is no good any more; undefined: go on. */
  event(event: unknown): ApiFailure | undefined;
}

interface Reading {
  readonly verb: 'list' | 'watch';
  readonly resource: Resource;
  readonly query: Query;
  readonly opened: () => void;
  /** @returns why no more is wanted. */
  readonly take: (chunk: Buffer) => ApiFailure | undefined;
}

/** Requests to one API server with one set of credentials. {@link close} it. */
export class ApiConnection {
  readonly #access: ApiAccess;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #agent: HttpAgent;

  /** @param signal ends what is under way */
  constructor(access: ApiAccess, clock: Clock, signal: AbortSignal) {
    this.#access = access;
    this.#clock = clock;
    this.#signal = signal;
    this.#agent = agentFor(access);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** One page of a list. */
  async list(resource: Resource, query: Query): Promise<Answer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer): ApiFailure | undefined => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= PAGE_BYTES_MAX) return undefined;
      return oddAnswer('list', resource, `more than ${PAGE_BYTES_MAX} bytes`);
    };
    const failure = await this.#read({ verb: 'list', resource, query, opened: () => undefined, take });
    if (failure !== undefined) return { kind: 'failure', failure };
    const body = parsed(Buffer.concat(chunks).toString('utf8'));
    if (body !== undefined) return { kind: 'answer', body };
    return { kind: 'failure', failure: oddAnswer('list', resource, 'something that is no JSON') };
  }

  /**
   * Follows what happens until the server ends it.
   * @returns why it ended before; undefined: the server ended it in good order.
   */
  async watch(resource: Resource, query: Query, reader: WatchReader): Promise<ApiFailure | undefined> {
    let bad: ApiFailure | undefined;
    const splitter = new LineSplitter(EVENT_BYTES_MAX, (line) => {
      if (bad !== undefined) return;
      const event = parsed(line);
      bad =
        event === undefined ? oddAnswer('watch', resource, 'something that is no JSON') : reader.event(event);
    });
    const failure = await this.#read({
      verb: 'watch',
      resource,
      query: { ...query, watch: 'true' },
      opened: () => {
        reader.opened();
      },
      take: (chunk) => {
        const isWithin = splitter.add(chunk);
        return (
          bad ??
          (isWithin
            ? undefined
            : oddAnswer('watch', resource, `an event of more than ${EVENT_BYTES_MAX} bytes`))
        );
      },
    });
    if (failure !== undefined || splitter.begun === 0) return failure;
    return { kind: 'cut', reason: `the watch of ${inWords(resource)} ended in the middle of an event` };
  }

  async #read({ verb, resource, query, opened, take }: Reading): Promise<ApiFailure | undefined> {
    const isWatch = verb === 'watch';
    const patience = new Patience(this.#clock, ANSWER_MS, this.#signal);
    let isFollowed = false;
    try {
      const response = await this.#open(resource, query, patience.signal);
      if (response.statusCode !== 200) return await complaint(verb, resource, response);
      isFollowed = isWatch;
      if (isWatch) patience.rearm(SILENCE_MS);
      opened();
      for await (const chunk of response) {
        if (isWatch) patience.rearm(SILENCE_MS);
        const failure = take(chunk as Buffer);
        if (failure !== undefined) return failure;
      }
      return undefined;
    } catch (error) {
      const why = patience.why ?? whyNot(error);
      if (isFollowed) return { kind: 'cut', reason: `the watch of ${inWords(resource)} broke off: ${why}` };
      const reason = `cannot ${verb} ${inWords(resource)}: ${this.#access.url.host}: ${why}`;
      return { kind: 'unreachable', reason };
    } finally {
      patience.end();
    }
  }

  #open(resource: Resource, query: Query, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, token } = this.#access;
    const isTls = url.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)({
        host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
        path: `${url.pathname.replace(/\/$/, '')}${pathOf(resource)}?${new URLSearchParams(query).toString()}`,
        agent: this.#agent,
        signal,
        headers: {
          accept: 'application/json',
          'user-agent': 'plimsoll',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      });
      // after the response has begun, the response says it too
      request.on('error', reject).once('response', resolve).end();
    });
  }
}

function agentFor({ url, ca, cert, key, serverName, insecure }: ApiAccess): HttpAgent {
  if (url.protocol === 'http:') return new HttpAgent({ keepAlive: true });
  return new HttpsAgent({
    keepAlive: true,
    rejectUnauthorized: !insecure,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(serverName !== undefined && { servername: serverName }),
  });
}

async function complaint(
  verb: 'list' | 'watch',
  resource: Resource,
  response: IncomingMessage,
): Promise<ApiFailure> {
  let text = '';
  for await (const chunk of response) {
    text += (chunk as Buffer).toString('latin1');
    if (text.length > COMPLAINT_BYTES_MAX) break;
  }
  const failure = failureOf(verb, resource, response.statusCode ?? 0, parsed(text));
  const retryAfter = /^\d{1,5}$/.exec(response.headers['retry-after'] ?? '')?.[0];
  return retryAfter === undefined ? failure : { ...failure, retryAfterMs: Number(retryAfter) * 1000 };
}

/** undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function whyNot(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ECONNREFUSED':
      return 'refuses connections';
    case 'ECONNRESET':
      return 'the connection was reset';
    case 'ENOTFOUND':
      return 'there is no such host';
    default:
      // an error of several addresses has no message of its own
      return printable(messageOf(error) || code);
  }
}

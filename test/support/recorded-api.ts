import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** What a real API server answered, one JSON text a line. */
export const RECORDED = fileURLToPath(
  new URL('../unit/discovery/kubernetes/recorded.jsonl', import.meta.url),
);

/** An answer with a body, a text or JSON, or a watch with its lines. */
export type Recorded = { readonly name: string; readonly status: number } & (
  | { readonly body: unknown }
  | { readonly lines: readonly unknown[] }
);

/** @throws Error when there is none of that name. */
export function recorded(name: string): Recorded {
  const all = readFileSync(RECORDED, 'utf8').trimEnd().split('\n');
  const found = all.map((line) => JSON.parse(line) as Recorded).find((record) => record.name === name);
  if (found === undefined) throw new Error(`nothing is recorded as ${name}`);
  return found;
}

/** The events of a watch that was recorded. */
export function recordedEvents(name: string): readonly unknown[] {
  const found = recorded(name);
  return 'lines' in found ? found.lines : [];
}

/** A request of a discoverer. */
export interface ApiRequest {
  /** `pods` */
  readonly plural: string;
  readonly verb: 'list' | 'watch';
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
}

type Answer = (request: ApiRequest, response: ServerResponse) => void;

/** Answers lists and watches as a test says, with what was recorded. `stop` it. */
export class RecordedApi {
  readonly url: string;
  readonly requests: ApiRequest[] = [];
  readonly #server: Server;
  readonly #answers = new Map<string, Answer[]>();
  readonly #watches = new Map<string, ServerResponse>();

  static async start(): Promise<RecordedApi> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new RecordedApi(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      this.#take(request, response);
    });
  }

  /**
   * What the next requests get, one after the other; the last answer is given again and again. Without any, a request
   * is left without an answer.
   */
  on(request: `${'list' | 'watch'} ${string}`, ...answers: readonly Answer[]): void {
    this.#answers.set(request, [...answers]);
  }

  /** Sends events to the watch of a resource that is open. */
  send(plural: string, ...events: readonly unknown[]): void {
    for (const event of events) this.#open(plural).write(`${JSON.stringify(event)}\n`);
  }

  sendText(plural: string, text: string): void {
    this.#open(plural).write(text);
  }

  /** Ends the watch in good order. */
  end(plural: string): void {
    this.#open(plural).end();
  }

  /** Breaks its connection. */
  cut(plural: string): void {
    this.#open(plural).destroy();
  }

  isWatched(plural: string): boolean {
    return this.#watches.has(plural);
  }

  /** `list pods`, `watch pods from 17`, `list pods of 1`, in their order */
  asked(plural: string): readonly string[] {
    return this.requests
      .filter((request) => request.plural === plural)
      .map(({ verb, query }) =>
        verb === 'list'
          ? `list${query.get('limit') === '1' ? ' one' : ''}`
          : `watch from ${query.get('resourceVersion') ?? ''}`,
      );
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #open(plural: string): ServerResponse {
    const response = this.#watches.get(plural);
    if (response === undefined) throw new Error(`no watch of ${plural} is open`);
    return response;
  }

  #take(incoming: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams: query } = new URL(incoming.url ?? '', this.url);
    const plural = pathname.split('/').at(-1) ?? '';
    const verb = query.get('watch') === 'true' ? 'watch' : 'list';
    const request: ApiRequest = { plural, verb, query, authorization: incoming.headers.authorization };
    this.requests.push(request);
    if (verb === 'watch') {
      response.once('close', () => {
        if (this.#watches.get(plural) === response) this.#watches.delete(plural);
      });
    }
    const answers = this.#answers.get(`${verb} ${plural}`) ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    answer?.(request, response);
    if (verb === 'watch' && !response.writableEnded) this.#watches.set(plural, response);
  }
}

/** Answers with what was recorded: a body, or a watch whose lines come and which then stays open. */
export function play(name: string): Answer {
  const found = recorded(name);
  return (_request, response) => {
    response.writeHead(found.status, { 'content-type': 'application/json' });
    if ('body' in found)
      response.end(typeof found.body === 'string' ? found.body : JSON.stringify(found.body));
    else for (const line of found.lines) response.write(`${JSON.stringify(line)}\n`);
  };
}

/** A watch that is open and tells nothing by itself. */
export const openWatch: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
};

/** Any answer. */
export function reply(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, headers).end(body);
  };
}

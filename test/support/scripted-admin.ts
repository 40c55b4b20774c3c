import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import type { GroupExplanation } from '../../src/admin/explanation.ts';
import { addPageRoutes } from '../../src/admin/page-routes.ts';
import type { State, StateChange, Trends } from '../../src/admin/state-shape.ts';
import type { ServerResponse } from 'node:http';

/** What a {@link ScriptedAdmin} answers. */
export interface AdminScript {
  readonly state: State;
  readonly trends?: (serverGroup: string) => Trends | undefined;
  readonly explain?: (serverGroup: string, backend: string) => GroupExplanation | undefined;
}

/** An admin address that serves the real page, and tells it what a test says. */
export class ScriptedAdmin {
  /** A client that comes is told this. */
  script: AdminScript;
  readonly #http = Fastify({ logger: false, forceCloseConnections: true });
  readonly #streams = new Set<ServerResponse>();

  constructor(script: AdminScript) {
    this.script = script;
    addPageRoutes(this.#http);
    this.#http.get('/events', (_request, reply) => {
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, { 'content-type': 'text/event-stream' });
      this.#streams.add(raw);
      raw.once('close', () => this.#streams.delete(raw));
      raw.write(event('state', this.script.state));
    });
    this.#http.get<{ Params: { group: string } }>('/trends/:group', (request, reply) => {
      const found = this.script.trends?.(request.params.group);
      return found ?? reply.code(404).send({ error: 'none' });
    });
    this.#http.get<{ Params: { group: string }; Querystring: { backend?: string } }>(
      '/explain/:group',
      (request, reply) => {
        const found = this.script.explain?.(request.params.group, request.query.backend ?? '');
        return found ?? reply.code(404).send({ error: 'none' });
      },
    );
  }

  /** @returns `http://HOST:PORT` */
  async start(port = 0): Promise<string> {
    await this.#http.listen({ host: '127.0.0.1', port });
    return `http://127.0.0.1:${(this.#http.server.address() as AddressInfo).port}`;
  }

  /** How many pages listen. */
  get listeners(): number {
    return this.#streams.size;
  }

  change(change: StateChange): void {
    for (const stream of this.#streams) stream.write(event('change', change));
  }

  /** Tells those that listen the whole state of the script anew. */
  tellState(): void {
    for (const stream of this.#streams) stream.write(event('state', this.script.state));
  }

  async stop(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
    await this.#http.close();
  }
}

function event(name: string, data: State | StateChange): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

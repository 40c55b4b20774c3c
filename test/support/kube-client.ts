import { Agent, request } from 'undici';

/** An object of the API, as JSON. */
export type KubeObject = Readonly<Record<string, unknown>>;

export interface KubeAnswer {
  readonly status: number;
  readonly body: KubeObject;
}

/** Requests to an API server with a token. {@link close} it. */
export class KubeClient {
  readonly #url: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(url: string, ca: string, token: string) {
    this.#url = url;
    this.#token = token;
    this.#agent = new Agent({ connect: { ca } });
  }

  /** @param body is sent as a merge patch with `PATCH` */
  async ask(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<KubeAnswer> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { statusCode, body: answer } = await request(`${this.#url}${path}`, {
      method,
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: statusCode, body: text.startsWith('{') ? (JSON.parse(text) as KubeObject) : { text } };
  }

  /** @throws Error when it does not succeed. */
  async call(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<KubeObject> {
    const answer = await this.ask(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

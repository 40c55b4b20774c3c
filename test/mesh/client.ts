import { request } from 'undici';
import { waitFor } from '../support/wait-for.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
  /** The backend that answered; undefined: none did. */
  readonly backend: string | undefined;
}

/** Sends requests to a proxy on 127.0.0.1. */
export class Client {
  readonly #port: number;
  readonly #host: string;

  /** @param host the `Host` header, without a port */
  constructor(port: number, host: string) {
    this.#port = port;
    this.#host = host;
  }

  async send(): Promise<Answer> {
    const { statusCode, headers, body } = await request(`http://127.0.0.1:${this.#port}/v1/completions`, {
      headers: { host: `${this.#host}:${this.#port}` },
    });
    return {
      status: statusCode,
      body: await body.text(),
      retryAfter: textOf(headers['retry-after']),
      backend: textOf(headers['x-backend']),
    };
  }

  /** How often each backend answered, or `status N` where none did. */
  async tally(count: number): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (let sent = 0; sent < count; sent++) {
      const { status, backend } = await this.send();
      const key = backend ?? `status ${status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }

  /** Sends until there is an answer of which `holds` is true. */
  until(what: string, holds: (answer: Answer) => boolean, timeoutMs = 30_000): Promise<Answer> {
    return waitFor(
      what,
      async () => {
        const answer = await this.send();
        return holds(answer) && answer;
      },
      timeoutMs,
    );
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

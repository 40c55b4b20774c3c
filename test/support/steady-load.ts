import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** Sends one request after the other on four connections until it is ended, at the latest with the test. */
export class SteadyLoad {
  readonly #counts = new Map<string, number>();
  readonly #agent = new Agent({ connections: 4 });
  readonly #workers: Promise<void>[];
  #ended = false;

  constructor(t: TestContext, origin: string) {
    t.after(() => this.end());
    this.#workers = Array.from({ length: 4 }, () => this.#work(origin));
  }

  count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  async end(): Promise<ReadonlyMap<string, number>> {
    this.#ended = true;
    await Promise.all(this.#workers);
    await this.#agent.destroy();
    return this.#counts;
  }

  async #work(origin: string): Promise<void> {
    while (!this.#ended) {
      const key = await request(origin, { dispatcher: this.#agent }).then(
        async ({ statusCode, body }) => {
          await body.dump();
          return `status ${statusCode}`;
        },
        (error: unknown) => String(error),
      );
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      // paces the load
      await delay(5);
    }
  }
}

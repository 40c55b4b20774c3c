import { type Clock, sleep } from '../runtime/clock.ts';

/** After a page was made, so many times as long as that took no other one is. */
const REST_RATIO = 4;

/**
 * A page that takes time to make, for any number of clients: those that ask meanwhile share the next one, so that not
 * even a flood of requests takes more than a fifth of the process, nor slow readers more memory than the pages of their time. Nobody
 * gets a page from before it asked.
 */
export class SharedPage {
  readonly #make: () => Promise<string>;
  readonly #clock: Clock;
  #next: Promise<Buffer> | undefined;
  #restUntilMs = 0;
  readonly #closed = new AbortController();

  constructor(make: () => Promise<string>, clock: Clock) {
    this.#make = make;
    this.#clock = clock;
  }

  get(): Promise<Buffer> {
    this.#next ??= this.#soon();
    return this.#next;
  }

  /** Those that wait for the next get it at once, so that nothing is scheduled any more. */
  close(): void {
    this.#closed.abort();
  }

  async #soon(): Promise<Buffer> {
    const restMs = this.#restUntilMs - this.#clock.now();
    // in any case a turn: only then is this one to be shared
    await (restMs > 0 ? sleep(this.#clock, restMs, this.#closed.signal) : undefined);
    this.#next = undefined;
    const begunMs = this.#clock.now();
    try {
      // a string would be put into bytes for each client
      return Buffer.from(await this.#make());
    } finally {
      const endedMs = this.#clock.now();
      this.#restUntilMs = endedMs + REST_RATIO * (endedMs - begunMs);
    }
  }
}

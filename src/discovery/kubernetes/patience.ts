import type { Clock } from '../../runtime/clock.ts';

/** How long something is waited for. {@link end} it. */
export class Patience {
  readonly #clock: Clock;
  readonly #outer: AbortSignal;
  readonly #controller = new AbortController();
  readonly #onAbort = (): void => {
    this.#give('stopped');
  };
  #why: string | undefined;
  #cancel: () => void;

  /** @param outer ends it too */
  constructor(clock: Clock, milliseconds: number, outer: AbortSignal) {
    this.#clock = clock;
    this.#outer = outer;
    this.#cancel = this.#arm(milliseconds);
    outer.addEventListener('abort', this.#onAbort, { once: true });
    if (outer.aborted) this.#onAbort();
  }

  /** Aborts when it is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why it is over; undefined: it is not. */
  get why(): string | undefined {
    return this.#why;
  }

  /** So long from now on. */
  rearm(milliseconds: number): void {
    this.#cancel();
    this.#cancel = this.#arm(milliseconds);
  }

  end(): void {
    this.#cancel();
    this.#outer.removeEventListener('abort', this.#onAbort);
  }

  #arm(milliseconds: number): () => void {
    return this.#clock.schedule(milliseconds, () => {
      this.#give(`nothing came for ${milliseconds / 1000} s`);
    });
  }

  #give(why: string): void {
    this.#why ??= why;
    this.#controller.abort();
  }
}

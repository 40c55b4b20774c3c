import type { Clock } from '../runtime/clock.ts';

/** So many are begun in one go; then whatever else waits for the event loop has its turn. */
const GO_MAX = 32;
/** What is due so soon is begun with what is due: a process that wakes up less often costs less. */
const TOGETHER_MS = 20;

interface Due<T> {
  readonly atMs: number;
  readonly item: T;
}

/**
 * Begins many things, each when it is due, a few at a time. Timers of their own would all be late where the process
 * is, and then be run in one go, which blocks the event loop.
 */
export class Pacer<T> {
  readonly #clock: Clock;
  readonly #begin: (item: T) => void;
  /** Those from here on have not begun. */
  #next = 0;
  #items: readonly Due<T>[] = [];
  #onBegun = (): void => undefined;
  #cancel = (): void => undefined;

  /** @param begin must not throw */
  constructor(clock: Clock, begin: (item: T) => void) {
    this.#clock = clock;
    this.#begin = begin;
  }

  /**
   * Takes the place of what has not begun. The first that are due begin at once.
   * @param onBegun called when the last one has begun
   */
  start(items: readonly Due<T>[], onBegun: () => void): void {
    this.stop();
    this.#onBegun = onBegun;
    this.#items = items.toSorted((one, other) => one.atMs - other.atMs);
    this.#next = 0;
    this.#go();
  }

  /** What has not begun does not begin any more. */
  stop(): void {
    this.#cancel();
    this.#items = [];
  }

  #go(): void {
    const nowMs = this.#clock.now();
    const end = Math.min(this.#items.length, this.#next + GO_MAX);
    while (this.#next < end) {
      const due = this.#items[this.#next];
      if (due === undefined || due.atMs > nowMs + TOGETHER_MS) break;
      this.#next++;
      this.#begin(due.item);
    }
    const next = this.#items[this.#next];
    if (next === undefined) {
      this.#onBegun();
      return;
    }
    this.#cancel = this.#clock.schedule(Math.max(0, next.atMs - nowMs), () => {
      this.#go();
    });
  }
}

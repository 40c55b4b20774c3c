import type { Clock } from '../../src/runtime/clock.ts';

interface Scheduled {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that moves only when told to. Callbacks due at the same time run in the order they were scheduled. */
export class FakeClock implements Clock {
  #now: number;
  #order = 0;
  readonly #scheduled = new Set<Scheduled>();

  constructor(startMs = 0) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  schedule(milliseconds: number, callback: () => void): () => void {
    const entry = { at: this.#now + Math.max(0, milliseconds), order: this.#order++, callback };
    this.#scheduled.add(entry);
    return () => {
      this.#scheduled.delete(entry);
    };
  }

  /** Timers that are still to run: 0 when nothing leaks. */
  get pending(): number {
    return this.#scheduled.size;
  }

  /** Moves time on, runs what falls due on the way, and lets promises settle after each. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    for (;;) {
      await settle();
      const next = this.#next();
      if (next === undefined || next.at > end) break;
      this.#scheduled.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
    await settle();
  }

  #next(): Scheduled | undefined {
    let first: Scheduled | undefined;
    for (const entry of this.#scheduled) {
      if (
        first === undefined ||
        entry.at < first.at ||
        (entry.at === first.at && entry.order < first.order)
      ) {
        first = entry;
      }
    }
    return first;
  }
}

/** Lets every promise settle that waits for nothing but other promises. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

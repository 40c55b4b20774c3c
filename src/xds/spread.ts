import type { Clock } from '../runtime/clock.ts';

/** What is told of each new snapshot. */
export interface FeedReader {
  /** @returns bytes written. */
  push(): number;
}

/**
 * What goes at once keeps everything else waiting, this much for about 0.2 s. It is as much as that because acknowledgements
 * come in between slices and hold the last streams up.
 */
const SLICE_BYTES = 128 * 1024 * 1024;

/** Tells many readers of something new, a slice at a time, with room in between for Node to write it out and for other work. */
export class Spread {
  readonly #readers: Iterable<FeedReader>;
  readonly #clock: Clock;
  #pass: Iterator<FeedReader> | undefined;
  #again = false;
  #cancelSlice: (() => void) | undefined;

  /** @param readers may change at any time. */
  constructor(readers: Iterable<FeedReader>, clock: Clock) {
    this.#readers = readers;
    this.#clock = clock;
  }

  /** Tells all readers. What comes while they are being told begins when the last has been: none waits without end. */
  begin(): void {
    this.#again = true;
    if (this.#pass === undefined) this.#slice();
  }

  /** Those who have not been told will not be. */
  stop(): void {
    this.#cancelSlice?.();
    this.#pass = undefined;
    this.#again = false;
  }

  #slice(): void {
    let left = SLICE_BYTES;
    while (left > 0) {
      const next = this.#pass?.next();
      if (next?.done === false) {
        left -= next.value.push();
      } else if (!this.#turn()) {
        return;
      }
    }
    this.#cancelSlice = this.#clock.schedule(0, () => {
      this.#slice();
    });
  }

  /** The pass is over. @returns whether another one begins. */
  #turn(): boolean {
    this.#pass = this.#again ? this.#readers[Symbol.iterator]() : undefined;
    this.#again = false;
    return this.#pass !== undefined;
  }
}

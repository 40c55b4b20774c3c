import type { Clock } from '../runtime/clock.ts';

/** What is told of each new snapshot. */
export interface FeedReader {
  /** @returns bytes written. */
  push(): number;
}

/**
 * What is written to a stream is copied for it. While copies of more than this wait for the kernel, Node's garbage
 * collector moves them about, which takes longer than the push itself.
 */
const AT_ONCE_BYTES = 32 * 1024 * 1024;

/** Acknowledgements come in between slices and hold the last streams up; so there are none where they are not needed. */
const SLICE_BYTES = 8 * 1024 * 1024;

/**
 * Tells many readers of something new: all at once, or, when the last time took more than what goes at once, a slice
 * at a time, with room for Node to write it out.
 */
export class Spread {
  readonly #readers: Iterable<FeedReader>;
  readonly #clock: Clock;
  #pass: Iterator<FeedReader> | undefined;
  #again = false;
  #cancelSlice: (() => void) | undefined;
  /** Of this pass so far, and of the one before. */
  #bytes = 0;
  #bytesBefore = 0;

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
    let left = this.#bytesBefore > AT_ONCE_BYTES ? SLICE_BYTES : AT_ONCE_BYTES;
    while (left > 0) {
      const next = this.#pass?.next();
      if (next?.done === false) {
        const bytes = next.value.push();
        left -= bytes;
        this.#bytes += bytes;
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
    if (this.#pass !== undefined) this.#bytesBefore = this.#bytes;
    this.#bytes = 0;
    this.#pass = this.#again ? this.#readers[Symbol.iterator]() : undefined;
    this.#again = false;
    return this.#pass !== undefined;
  }
}

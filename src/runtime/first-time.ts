/** So long after the last of them those that fill the room keep others out. */
const FORGET_MS = 3_600_000;

/**
 * Tells which texts are met for the first time, of texts that others choose: at most `limit` at once, and as many once
 * more an hour later, so that a flood of invented ones does not hide the others for ever.
 */
export class FirstTime {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #known = new Set<string>();
  #lastMs = 0;

  /** @param now monotonic milliseconds. */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** @returns false also when there is no room to remember it. */
  isFirst(text: string): boolean {
    if (this.#known.has(text)) return false;
    if (this.#known.size >= this.#limit) {
      if (this.#now() - this.#lastMs < FORGET_MS) return false;
      this.#known.clear();
    }
    this.#known.add(text);
    this.#lastMs = this.#now();
    return true;
  }
}

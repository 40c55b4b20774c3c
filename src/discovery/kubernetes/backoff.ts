const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Waits that double from half a second to half a minute, each shortened by up to a half so that clients spread. */
export class Backoff {
  readonly #random: () => number;
  #attempts = 0;

  /** @param random 0 (inclusive) .. 1 (exclusive) */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** How many waits there were since it went well. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The next wait, ms; never shorter than `leastMs`, which a server may ask for, within a minute. */
  next(leastMs = 0): number {
    const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(this.#attempts++, 16));
    return Math.max(whole * (1 - this.#random() / 2), Math.min(leastMs, 2 * LONGEST_MS));
  }

  /** It went well. */
  reset(): void {
    this.#attempts = 0;
  }
}

import { isDeepStrictEqual } from 'node:util';

/** What is kept of objects, by their names. At most so much of it. */
export class KeptObjects<T> {
  readonly #limit: number;
  readonly #weigh: (kept: T) => number;
  readonly #objects = new Map<string, T>();
  #weight = 0;

  /** @param limit for the number of objects, and for what they weigh together */
  constructor(limit: number, weigh: (kept: T) => number) {
    this.#limit = limit;
    this.#weigh = weigh;
  }

  get all(): ReadonlyMap<string, T> {
    return this.#objects;
  }

  /** @returns whether anything is different now; `full`: it does not fit, and nothing is. */
  set(name: string, kept: T): 'same' | 'changed' | 'full' {
    const before = this.#objects.get(name);
    if (before !== undefined && isDeepStrictEqual(before, kept)) return 'same';
    const weight = this.#weight + this.#weigh(kept) - (before === undefined ? 0 : this.#weigh(before));
    const size = this.#objects.size + (before === undefined ? 1 : 0);
    if (weight > this.#limit || size > this.#limit) return 'full';
    this.#weight = weight;
    this.#objects.set(name, kept);
    return 'changed';
  }

  /** @returns whether it was there. */
  delete(name: string): boolean {
    const before = this.#objects.get(name);
    if (before !== undefined) this.#weight -= this.#weigh(before);
    return this.#objects.delete(name);
  }
}

/**
 * Numbers of the latest steps of time: a row of `width` numbers for each step, NaN where there is none. A step is a
 * whole number of `stepMs` since time 0. It takes 4 bytes a number, whatever is written.
 */
export class SlotRing {
  readonly stepMs: number;
  readonly #length: number;
  readonly #width: number;
  readonly #values: Float32Array;
  #first: number | undefined;
  #last: number | undefined;

  /** @param length steps that are kept */
  constructor(length: number, width: number, stepMs: number) {
    this.stepMs = stepMs;
    this.#length = length;
    this.#width = width;
    this.#values = new Float32Array(length * width).fill(Number.NaN);
  }

  /** The time of the latest step; undefined: nothing has been written. */
  get endAtMs(): number | undefined {
    return this.#last === undefined ? undefined : this.#last * this.stepMs;
  }

  /**
   * The row of the step that `atMs` is in, to be written to until there is a later one; steps that were left out are NaN.
   * undefined: it lies before the latest one.
   */
  rowAt(atMs: number): Float32Array | undefined {
    const step = Math.floor(atMs / this.stepMs);
    const last = this.#last ?? step - 1;
    if (step < last) return undefined;
    for (let next = Math.max(last + 1, step - this.#length + 1); next <= step; next++) {
      this.#row(next).fill(Number.NaN);
    }
    this.#first ??= step;
    this.#last = step;
    return this.#row(step);
  }

  /** Whether {@link rowAt} would begin a new row. */
  isNew(atMs: number): boolean {
    return this.#last === undefined || Math.floor(atMs / this.stepMs) > this.#last;
  }

  /** One column, oldest first, of all steps from the first that was written. */
  column(index: number): readonly number[] {
    if (this.#first === undefined || this.#last === undefined) return [];
    const from = Math.max(this.#first, this.#last - this.#length + 1);
    return Array.from(
      { length: this.#last - from + 1 },
      (_, offset) => this.#values[this.#place(from + offset) + index] ?? Number.NaN,
    );
  }

  #row(step: number): Float32Array {
    const place = this.#place(step);
    return this.#values.subarray(place, place + this.#width);
  }

  #place(step: number): number {
    return (step % this.#length) * this.#width;
  }
}

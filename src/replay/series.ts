/** What an axis of time is made for, Unix milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Points of a curve. */
export const POINTS = 240;

/** A curve over time: means of what falls into each of 240 equal parts of a span. */
export class Series {
  readonly #span: Span;
  readonly #sums = new Float64Array(POINTS);
  readonly #counts = new Uint32Array(POINTS);

  constructor(span: Span) {
    this.#span = span;
  }

  /** @param at Unix milliseconds; what is outside of the span counts at its edge. */
  add(at: number, value: number): void {
    const { from, to } = this.#span;
    const place = to > from ? Math.floor((POINTS * (at - from)) / (to - from)) : 0;
    const index = Math.min(POINTS - 1, Math.max(0, place));
    this.#sums[index] = (this.#sums[index] ?? 0) + value;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** undefined: nothing fell into that part. */
  get points(): readonly (number | undefined)[] {
    return Array.from(this.#sums, (sum, index) => {
      const count = this.#counts[index] ?? 0;
      return count === 0 ? undefined : sum / count;
    });
  }
}

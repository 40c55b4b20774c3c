/** A cumulative histogram: how many were at most `le`, in the order of `le`. */
export type Buckets = readonly { readonly le: number; readonly count: number }[];

/** Adds up what a histogram of a process, which may be replaced by another one, has grown by between two looks. */
export class BucketSum {
  readonly #sums = new Map<number, number>();
  #generation = 0;
  #before: Buckets = [];

  /** What has come since the look before, which was at the same process, or all. */
  add(generation: number, buckets: Buckets): void {
    const before = generation === this.#generation ? this.#before : [];
    for (const [index, { le, count }] of buckets.entries()) {
      const more = count - (before[index]?.count ?? 0);
      this.#sums.set(le, (this.#sums.get(le) ?? 0) + more);
    }
    this.skip(generation, buckets);
  }

  /** What has come since the look before is left out. */
  skip(generation: number, buckets: Buckets): void {
    this.#generation = generation;
    this.#before = buckets;
  }

  get count(): number {
    return this.#sums.get(Infinity) ?? 0;
  }

  /** The bound of the bucket that holds the quantile `q`; NaN: there is nothing. */
  quantile(q: number): number {
    const wanted = q * this.count;
    for (const [le, count] of this.#sums) if (this.count > 0 && count >= wanted) return le;
    return Number.NaN;
  }
}

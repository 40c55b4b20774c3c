/** What stands for all values beyond the limit. */
const OTHERS = 'other';

/** Values of a label that clients choose: the first `limit` different ones keep their name, all others share one. */
export class BoundedLabel {
  readonly #limit: number;
  readonly #known = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  value(text: string): string {
    if (this.#known.has(text)) return text;
    if (this.#known.size >= this.#limit) return OTHERS;
    this.#known.add(text);
    return text;
  }
}

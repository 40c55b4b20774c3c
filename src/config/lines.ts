export interface Position {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units. */
  readonly column: number;
}

/** Where the lines of a text begin. (The YAML library's own counter misses lines after a mistake.) */
export class Lines {
  readonly #text: string;
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.#text = text;
    this.#starts = [0, ...Array.from(text.matchAll(/\n/g), (match) => match.index + 1)];
  }

  position(offset: number): Position {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }

  /** The text of a line without its end. */
  textOf(line: number): string {
    return this.#text.slice(this.#starts[line - 1], (this.#starts[line] ?? this.#text.length + 1) - 1);
  }
}

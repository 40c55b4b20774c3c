/** Splits a stream of bytes into lines of at most so many bytes. */
export class LineSplitter {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(limit: number, onLine: (line: string) => void) {
    this.#limit = limit;
    this.#onLine = onLine;
  }

  /** Bytes of the line that has begun and not ended. */
  get begun(): number {
    return this.#bytes;
  }

  /** @returns whether every line so far is within the limit; after `false` there is nothing more to be had. */
  add(chunk: Buffer): boolean {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      if (!this.#keep(chunk.subarray(start, end))) return false;
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#bytes = 0;
      start = end + 1;
      if (line.trim() !== '') this.#onLine(line);
    }
    return this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): boolean {
    this.#bytes += part.length;
    if (this.#bytes > this.#limit) return false;
    if (part.length > 0) this.#parts.push(part);
    return true;
  }
}

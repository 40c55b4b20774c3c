/** Characters of one line. Ten thousand backends have some 3 MB. */
const LINE_MAX = 64 * 1024 * 1024;

/** Makes lines of text that comes in pieces. */
export class LineSplitter {
  #rest = '';

  /**
   * @returns the lines that are complete now.
   * @throws Error when one is longer than 64 Mi characters.
   */
  push(text: string): readonly string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LINE_MAX) throw new Error(`a line is longer than ${LINE_MAX} characters`);
    return lines;
  }

  /** What has no end of line so far. */
  get rest(): string {
    return this.#rest;
  }
}

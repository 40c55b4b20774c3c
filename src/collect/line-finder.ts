const NEWLINE = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
/** More blanks than that before a name make it none. */
const INDENT_MAX = 256;

/** By byte: 1 where it may stand in a metric name, `[a-zA-Z0-9_:]`. */
const NAME_BYTES = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[a-zA-Z0-9_:]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

interface Name {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A line that begins with a wanted name. Offsets are into the page. */
export interface FoundLine {
  readonly name: string;
  /** The first byte behind the name. */
  readonly rest: number;
  /** The line's newline, or the end of the page. */
  readonly end: number;
}

/** How many lines of a page may still be looked at; below 0: it has more. */
export interface LineBudget {
  left: number;
}

/**
 * Finds the lines of a page that begin with one of a fixed set of metric names, without decoding or allocating for
 * the others. Two bytes, where the shortest name has its middle and its end, rule out nearly all lines and tell which
 * names are left, so that what remains is the search for the next newline.
 */
export class LineFinder {
  /** Offsets of those two bytes. */
  readonly #middle: number;
  readonly #last: number;
  /** By the two bytes: 0, or 1 more than the index of the names that have them. */
  readonly #pairs = new Uint8Array(65_536);
  readonly #candidates: Name[][] = [];

  /** @param names at most 255, none empty */
  constructor(names: readonly string[]) {
    this.#last = Math.min(...names.map((name) => name.length)) - 1;
    this.#middle = this.#last >> 1;
    for (const name of new Set(names)) {
      const bytes = Buffer.from(name);
      const pair = pairAt(bytes, this.#last, this.#middle);
      this.#pairs[pair] ||= this.#candidates.push([]);
      this.#candidates[(this.#pairs[pair] ?? 0) - 1]?.push({ name, bytes });
    }
  }

  /**
   * @param start begins a line
   * @param budget what is looked at is taken off
   * @returns the first line with a wanted name among those that begin at `start` or later, as far as the budget lasts
   */
  find(page: Buffer, start: number, budget: LineBudget): FoundLine | undefined {
    if (this.#candidates.length === 0) return undefined;
    const pairs = this.#pairs;
    const last = this.#last;
    const middle = this.#middle;
    let { left } = budget;
    for (let at = start; at < page.length && --left >= 0; ) {
      const from = isBlank(page[at]) ? skipBlanks(page, at, at + INDENT_MAX) : at;
      const index = pairs[pairAt(page, from + last, from + middle)] ?? 0;
      const found = index === 0 ? undefined : nameAt(page, from, this.#candidates[index - 1] ?? []);
      const newline = page.indexOf(NEWLINE, at);
      const end = newline === -1 ? page.length : newline;
      if (found !== undefined) {
        budget.left = left;
        return { name: found.name, rest: from + found.bytes.length, end };
      }
      at = end + 1;
    }
    budget.left = left;
    return undefined;
  }
}

/** @returns the one of the names that stands whole at `start` */
function nameAt(page: Buffer, start: number, names: readonly Name[]): Name | undefined {
  for (const candidate of names) {
    const { bytes } = candidate;
    if (NAME_BYTES[page[start + bytes.length] ?? 0] === 0 && standsAt(page, start, bytes)) return candidate;
  }
  return undefined;
}

/** @returns the first byte at or behind `start` that is neither a space nor a tab, or `end`. */
export function skipBlanks(page: Buffer, start: number, end = page.length): number {
  let at = start;
  while (at < end && isBlank(page[at])) at++;
  return at;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

function pairAt(bytes: Uint8Array, high: number, low: number): number {
  return ((bytes[high] ?? 0) << 8) | (bytes[low] ?? 0);
}

function standsAt(page: Buffer, start: number, bytes: Uint8Array): boolean {
  for (let i = bytes.length - 1; i >= 0; i--) {
    if (page[start + i] !== bytes[i]) return false;
  }
  return true;
}

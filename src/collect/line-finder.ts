const NEWLINE = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

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

  /** @param names 1 to 255, none empty */
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

  /** @returns the first line with a wanted name among those that begin at `start` or later; `start` begins a line. */
  find(page: Buffer, start: number): FoundLine | undefined {
    const pairs = this.#pairs;
    const last = this.#last;
    const middle = this.#middle;
    for (let at = start; at < page.length; ) {
      const from = skipBlanks(page, at);
      const index = pairs[pairAt(page, from + last, from + middle)] ?? 0;
      const found = index === 0 ? undefined : nameAt(page, from, this.#candidates[index - 1] ?? []);
      const newline = page.indexOf(NEWLINE, at);
      const end = newline === -1 ? page.length : newline;
      if (found !== undefined) return { name: found.name, rest: from + found.bytes.length, end };
      at = end + 1;
    }
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

/** @returns the first byte at or behind `start` that is neither a space nor a tab. */
export function skipBlanks(page: Buffer, start: number): number {
  let at = start;
  while (page[at] === SPACE || page[at] === TAB) at++;
  return at;
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

import { printable } from '../runtime/text.ts';
import { LINES_MAX } from './exposition.ts';
import type { LineFinder } from './line-finder.ts';
import { Series } from './series.ts';

/**
 * The wanted series of one page: values by name and labels as the page has them. Of a series that is there twice the
 * last one counts.
 */
export type PageSeries = ReadonlyMap<string, number>;

const BRACE_CLOSE = 0x7d;
/** Of one page. They are kept for each backend. */
const SERIES_MAX = 1000;
const NAMES_BYTES_MAX = 128 * 1024;

/** @returns undefined when there are too many to be compared, or more than {@link LINES_MAX} lines. */
export function pageSeries(page: Uint8Array, wanted: LineFinder): PageSeries | undefined {
  const buffer = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  const values = new Map<string, number>();
  let namesBytes = 0;
  const lines = { left: LINES_MAX };
  for (
    let line = wanted.find(buffer, 0, lines);
    line !== undefined;
    line = wanted.find(buffer, line.end + 1, lines)
  ) {
    const { name, rest, end } = line;
    const labelsEnd = rest + 1 + buffer.subarray(rest, end).lastIndexOf(BRACE_CLOSE);
    const key = buffer.toString('latin1', rest - name.length, labelsEnd);
    values.set(key, new Series(buffer, rest, end).value);
    namesBytes += key.length;
    if (values.size > SERIES_MAX || namesBytes > NAMES_BYTES_MAX) return undefined;
  }
  return lines.left < 0 ? undefined : values;
}

/** Of the names and labels of the wanted series in their order, by FNV-1a: pages with the same ones have the same. */
export function seriesHash(page: Uint8Array, wanted: LineFinder): number {
  const buffer = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  const lines = { left: LINES_MAX };
  let hash = 0x811c9dc5;
  for (
    let line = wanted.find(buffer, 0, lines);
    line !== undefined;
    line = wanted.find(buffer, line.end + 1, lines)
  ) {
    let { end } = line;
    while (end > line.rest && buffer[end - 1] !== BRACE_CLOSE) end--;
    for (let at = line.rest - line.name.length; at < end; at++) {
      hash = Math.imul(hash ^ (buffer[at] ?? 0), 0x01000193);
    }
  }
  return hash;
}

/** @returns the first series that `page` lacks, as a message shows it; undefined: it has all. */
export function missingFrom(page: PageSeries, wanted: PageSeries): string | undefined {
  for (const key of wanted.keys()) {
    if (!page.has(key)) return printable(key);
  }
  return undefined;
}

/** Whether both have the same series with the same values. */
export function areEqual(one: PageSeries, other: PageSeries): boolean {
  if (one.size !== other.size) return false;
  for (const [key, value] of one) {
    if (!other.has(key) || !Object.is(other.get(key), value)) return false;
  }
  return true;
}

/**
 * Whether a page can have been made between two others: it has the series of the first and no others than those of
 * the last, and every value lies between the two. A series that only the last one has began at 0.
 */
export function liesBetween(before: PageSeries, page: PageSeries, after: PageSeries): boolean {
  if (missingFrom(page, before) !== undefined) return false;
  for (const [key, value] of page) {
    const last = after.get(key);
    if (last === undefined) return false;
    const first = before.get(key) ?? 0;
    const between = value >= Math.min(first, last) && value <= Math.max(first, last);
    if (!between && !(Object.is(value, first) && Object.is(value, last))) return false;
  }
  return true;
}

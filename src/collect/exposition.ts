import type { LineFinder } from './line-finder.ts';
import { Series } from './series.ts';

export type Families = ReadonlyMap<string, readonly Series[]>;

/** A page with more series of the wanted names than this is not read. */
export const SERIES_MAX = 10_000;
/** Nor one with more lines: those of the largest page that an engine has are longer, and each takes its time. */
export const LINES_MAX = 200_000;

/**
 * Reads the series of the wanted names from a page in the Prometheus text format 0.0.4, in the order of the page.
 * Lines of other names are passed over unread. Never throws, whatever the bytes.
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 * @returns undefined when there are more than {@link SERIES_MAX}, or more than {@link LINES_MAX} lines
 */
export function parseExposition(page: Uint8Array, wanted: LineFinder): Families | undefined {
  const buffer = asBuffer(page);
  const families = new Map<string, Series[]>();
  const lines = { left: LINES_MAX };
  let count = 0;
  for (
    let line = wanted.find(buffer, 0, lines);
    line !== undefined;
    line = wanted.find(buffer, line.end + 1, lines)
  ) {
    if (++count > SERIES_MAX) return undefined;
    const series = new Series(buffer, line.rest, line.end);
    const family = families.get(line.name);
    if (family === undefined) families.set(line.name, [series]);
    else family.push(series);
  }
  return lines.left < 0 ? undefined : families;
}

const HEAD_BYTES = 16 * 1024;
const FIRST_LINE = /^\s*(?:#|[a-zA-Z_:][a-zA-Z0-9_:]*[ \t]*(?:\{.*\}[ \t]*|[ \t])[+-]?[0-9.nNiI])/;

/** Whether the first line that is not blank is a comment or looks like a series. */
export function looksLikeExposition(page: Uint8Array): boolean {
  return FIRST_LINE.test(asBuffer(page).toString('latin1', 0, HEAD_BYTES));
}

/** The same bytes, not copied. */
export function asBuffer(page: Uint8Array): Buffer {
  return Buffer.isBuffer(page) ? page : Buffer.from(page.buffer, page.byteOffset, page.byteLength);
}

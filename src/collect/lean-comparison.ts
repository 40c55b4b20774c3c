import type { CollectFailure } from '../core/model/collection.ts';
import { areEqual, liesBetween, missingFrom, type PageSeries } from './page-series.ts';

/** A lean page must be smaller than this part of the full one. */
const SMALL = 0.5;

/** What of a page counts for a comparison. */
export interface PageFacts {
  /** undefined: too many to be compared. */
  readonly series: PageSeries | undefined;
  readonly bytes: number;
}

/** What a comparison came to. */
export type LeanVerdict =
  /** The lean page says the same as the full one. */
  | { readonly kind: 'lean' }
  /** The exporter cannot be read lean. */
  | { readonly kind: 'full'; readonly reason: string }
  /** It tells neither. */
  | { readonly kind: 'unclear'; readonly reason: string };

/** Whether the lean page leaves out only what was not asked for, which spares the exporter something. */
export function isSmall(lean: number, full: number): boolean {
  return lean < SMALL * full;
}

/** @returns undefined: values differ, so that another full page has to tell whether they moved; {@link compareAfter} */
export function compareBefore(full: PageFacts, lean: PageFacts): LeanVerdict | undefined {
  if (full.series === undefined || lean.series === undefined) return isFull('there are too many series');
  if (lean.series.size === 0) return isFull('the filter gives an empty page');
  const missing = missingFrom(lean.series, full.series);
  if (missing !== undefined) return isFull(`the filter leaves out ${missing}`);
  if (!isSmall(lean.bytes, full.bytes)) return isFull('the filter is ignored');
  return areEqual(full.series, lean.series) ? { kind: 'lean' } : undefined;
}

/** The same with the full pages before and after it. */
export function compareAfter(before: PageFacts, lean: PageFacts, after: PageFacts): LeanVerdict {
  if (before.series === undefined || lean.series === undefined || after.series === undefined)
    return isFull('there are too many series');
  return liesBetween(before.series, lean.series, after.series)
    ? { kind: 'lean' }
    : { kind: 'unclear', reason: 'its values are not those of the full page' };
}

/** What it tells that a lean page cannot be had. */
export function compareFailure({ kind, message }: CollectFailure): LeanVerdict {
  const isTransient = kind === 'timeout' || kind === 'reset' || kind === 'refused' || kind === 'unreachable';
  return isTransient ? { kind: 'unclear', reason: message } : isFull(`the filter is refused: ${message}`);
}

function isFull(reason: string): LeanVerdict {
  return { kind: 'full', reason };
}

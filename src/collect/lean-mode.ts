import type { CollectFailure, CollectFailureKind, Sample } from '../core/model/collection.ts';
import { isSmall, type LeanVerdict, type PageFacts } from './lean-comparison.ts';
import { missingFrom, type PageSeries } from './page-series.ts';

/** A backend is compared again after about this time. */
const AGAIN_MS = 600_000;
/** One that was lost again within that time is compared after this, then after twice as long, … up to that. */
const PAUSE_MS = 30_000;
/** So many comparisons in a row may be unclear. */
const UNCLEAR_MAX = 3;
/** Good full pages in a row before the first comparison: a fleet that joins at once is read first. */
const FULL_PAGES = 2;
/** Lean pages in a row that may come too late. */
const LATE_MAX = 1;

type Mode =
  | { readonly kind: 'full'; readonly compareAtMs: number }
  | {
      readonly kind: 'lean';
      readonly compareAtMs: number;
      readonly sinceMs: number;
      /** Those of the latest page; values count only while comparing. */
      readonly series: PageSeries;
      readonly fullBytes: number;
    };

/**
 * Whether one backend's page is read lean: only the series that are needed, by a filter of its exporter.
 *
 * A lean page must never give another sample than the full one. So the two are compared when a backend is new, has
 * restarted or has become another engine, and every ten minutes; in between a lean page must have all series of the
 * one before it, and no counter may fall. What does not hold is followed by a full page in the same collection.
 *
 * State only: time is an argument, and nobody is asked.
 */
export class LeanMode {
  readonly #spread: number;
  #mode: Mode = { kind: 'full', compareAtMs: 0 };
  #counters: readonly (number | undefined)[] = [];
  #fullPages = 0;
  #late = 0;
  #losses = 0;
  #unclear = 0;

  /** @param spread 0..1: backends with another one are compared again at another time */
  constructor(spread: number) {
    this.#spread = spread;
  }

  get isLean(): boolean {
    return this.#mode.kind === 'lean';
  }

  /** Those of the latest lean page; undefined: the page is read in full. */
  get series(): PageSeries | undefined {
    return this.#mode.kind === 'lean' ? this.#mode.series : undefined;
  }

  /** Whether the next page is to be a lean one. */
  asksLean(nowMs: number): boolean {
    return this.#mode.kind === 'lean' && nowMs < this.#mode.compareAtMs;
  }

  /**
   * A full page was read.
   * @param sample undefined: there is none on it
   * @returns whether a lean one is to be compared with it now
   */
  tookFull(sample: Sample | undefined, nowMs: number): boolean {
    this.#late = 0;
    this.#fullPages = sample === undefined ? 0 : this.#fullPages + 1;
    if (this.#fell(sample)) this.#restarted(nowMs);
    return (this.isLean || this.#fullPages >= FULL_PAGES) && nowMs >= this.#mode.compareAtMs;
  }

  /**
   * A lean page was read.
   * @returns why it must not be used, and a full one be read in its place; undefined: it may
   */
  tookLean({ series, bytes }: PageFacts, sample: Sample | undefined, nowMs: number): string | undefined {
    const mode = this.#mode;
    if (mode.kind === 'full' || series === undefined) return this.#lose('there are too many series', nowMs);
    const missing = missingFrom(series, mode.series);
    if (missing !== undefined) return this.#lose(`${missing} is no longer on the lean page`, nowMs);
    if (this.#fell(sample)) return this.#lose('a counter fell', nowMs);
    this.#late = 0;
    if (nowMs - mode.sinceMs >= AGAIN_MS) this.#losses = 0;
    if (!isSmall(bytes, mode.fullBytes)) this.#lose('the filter is ignored', nowMs);
    // with the same ones the old map stays, which is in the old generation already
    else if (series.size > mode.series.size) this.#mode = { ...mode, series };
    return undefined;
  }

  /** A request for a full page came to nothing. */
  failedFull(kind: CollectFailureKind): void {
    this.#fullPages = 0;
    if (isDown(kind)) this.restart();
  }

  /**
   * A request for a lean page came to nothing.
   * @returns why a full page is to be read in its place; undefined: it is not
   */
  failedLean({ kind, message }: CollectFailure, nowMs: number): string | undefined {
    if (isDown(kind)) {
      this.restart();
      return undefined;
    }
    if (kind !== 'timeout') return this.#lose(message, nowMs);
    if (++this.#late > LATE_MAX) this.#lose(message, nowMs);
    return undefined;
  }

  /**
   * A lean page was compared with a full one.
   * @param series of the lean one; undefined: it could not be had, or has too many
   */
  compared(verdict: LeanVerdict, series: PageSeries | undefined, fullBytes: number, nowMs: number): void {
    const isUnclear = verdict.kind === 'unclear' && ++this.#unclear < UNCLEAR_MAX;
    if (isUnclear) return;
    this.#unclear = 0;
    const compareAtMs = nowMs + AGAIN_MS * (0.75 + 0.5 * this.#spread);
    if (verdict.kind !== 'lean' || series === undefined) {
      this.#mode = { kind: 'full', compareAtMs };
      return;
    }
    const sinceMs = this.#mode.kind === 'lean' ? this.#mode.sinceMs : nowMs;
    this.#mode = { kind: 'lean', compareAtMs, sinceMs, series, fullBytes };
  }

  /** The backend may be another one now: the next good full pages tell whether it can be read lean. */
  restart(): void {
    this.#mode = { kind: 'full', compareAtMs: 0 };
    this.#fullPages = 0;
  }

  /** As a counter tells; counters that fall all the time are those of several servers by turns. */
  #restarted(nowMs: number): void {
    const compareAtMs = Math.min(this.#mode.compareAtMs, nowMs + this.#pauseMs());
    this.#mode = { kind: 'full', compareAtMs };
    this.#fullPages = 0;
  }

  #lose(reason: string, nowMs: number): string {
    this.#mode = { kind: 'full', compareAtMs: nowMs + this.#pauseMs() };
    this.#losses++;
    this.#fullPages = 0;
    return reason;
  }

  #pauseMs(): number {
    return this.#losses === 0 ? 0 : Math.min(AGAIN_MS, PAUSE_MS * 2 ** (this.#losses - 1));
  }

  /** Whether a counter is lower than on the page before. */
  #fell(sample: Sample | undefined): boolean {
    if (sample === undefined) return false;
    const before = this.#counters;
    const { finished, latency, prompts } = sample;
    const tokens = [prompts?.takenInTokens, prompts?.answeredTokens];
    this.#counters = [finished, latency?.count, latency?.sumSeconds, ...tokens];
    return this.#counters.some((counter, index) => (counter ?? Infinity) < (before[index] ?? 0));
  }
}

/** Whoever does not listen will have started anew when he does. */
function isDown(kind: CollectFailureKind): boolean {
  return kind === 'refused' || kind === 'unreachable';
}

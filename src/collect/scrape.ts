import type { CollectFailure, Sample } from '../core/model/collection.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import {
  compareAfter,
  compareBefore,
  compareFailure,
  type LeanVerdict,
  type PageFacts,
} from './lean-comparison.ts';
import { LeanMode } from './lean-mode.ts';
import { leanPath } from './lean-path.ts';
import { LineFinder } from './line-finder.ts';
import { pageSeries, seriesHash } from './page-series.ts';
import type { PageResult, PageSource } from './page-source.ts';
import type { SampleReading } from './sample.ts';

/** What a scrape needs of a reader of pages. */
export interface PageReader {
  read(page: Uint8Array): SampleReading;
  /** What it reads of the next page; the same array while that is the same. undefined: it has to find out first. */
  readonly wantedNames: readonly string[] | undefined;
}

export type Scraped =
  | {
      readonly kind: 'page';
      readonly reading: SampleReading;
      readonly page: Uint8Array;
      /** Only what is needed was asked for. */
      readonly lean: boolean;
    }
  | { readonly kind: 'failure'; readonly failure: CollectFailure };

/** How a page is asked for leanly. */
interface Query {
  readonly names: readonly string[];
  readonly path: string;
  readonly finder: LineFinder;
}

/** By the names, which all backends of an engine have in common: a finder is large. */
const finders = new WeakMap<readonly string[], LineFinder>();

/** Reads one backend's pages, lean where that gives the same samples. One call at a time. */
export class Scrape {
  readonly #source: PageSource;
  readonly #reader: PageReader;
  readonly #clock: Clock;
  /** Without a query; undefined: it is never read lean. */
  readonly #path: string | undefined;
  readonly #mode: LeanMode;
  #query: Query | undefined;
  /** Of the latest lean page; undefined: there is none yet since the comparison. */
  #hash: number | undefined;
  #lost: string | undefined;
  /** The latest full page, while it is to be compared with a lean one. */
  #toCompare: { readonly full: PageFacts; readonly query: Query } | undefined;

  constructor(options: {
    readonly source: PageSource;
    readonly reader: PageReader;
    readonly clock: Clock;
    /** The path of the page where it may be read lean. */
    readonly leanPath: string | undefined;
    /** 0..1: see {@link LeanMode}. */
    readonly spread: number;
  }) {
    this.#source = options.source;
    this.#reader = options.reader;
    this.#clock = options.clock;
    this.#path = options.leanPath;
    this.#mode = new LeanMode(options.spread);
  }

  /** Why the latest page that was asked for leanly had to be read in full; undefined: it had not. */
  get lost(): string | undefined {
    return this.#lost;
  }

  /** Whether {@link compare} is to be called before the next page is read. */
  get isToBeCompared(): boolean {
    return this.#toCompare !== undefined;
  }

  /** Reads a page; where a lean one does not do, a full one in its place. */
  async read(signal: AbortSignal): Promise<Scraped> {
    this.#toCompare = undefined;
    this.#lost = undefined;
    const query = this.#query;
    const lean = query === undefined ? undefined : await this.#readLean(query, signal);
    return lean ?? this.#readFull(signal);
  }

  /**
   * Compares the full page that was just read with a lean one, for which it takes one or two requests.
   * @returns undefined: there is nothing to compare
   */
  async compare(signal: AbortSignal): Promise<LeanVerdict | undefined> {
    if (this.#toCompare === undefined) return undefined;
    const { full: before, query } = this.#toCompare;
    this.#toCompare = undefined;
    this.#query = query;
    const result = await this.#fetch(signal, query.path);
    if (result.kind === 'failure') return this.#conclude(compareFailure(result.failure), undefined, before);
    const lean = factsOf(result.page, query);
    const verdict = compareBefore(before, lean) ?? (await this.#compareAfter(before, lean, query, signal));
    return this.#conclude(verdict, lean, before);
  }

  /** With a second full page. */
  async #compareAfter(
    before: PageFacts,
    lean: PageFacts,
    query: Query,
    signal: AbortSignal,
  ): Promise<LeanVerdict> {
    const result = await this.#fetch(signal);
    return result.kind === 'failure'
      ? { kind: 'unclear', reason: result.failure.message }
      : compareAfter(before, lean, factsOf(result.page, query));
  }

  async #fetch(signal: AbortSignal, path?: string): Promise<PageResult> {
    try {
      return await this.#source.fetch(signal, path);
    } catch (error) {
      return { kind: 'failure', failure: { kind: 'internal', message: printable(messageOf(error)) } };
    }
  }

  /** undefined: it cannot be asked leanly. */
  #newQuery(): Query | undefined {
    const names = this.#reader.wantedNames;
    if (this.#path === undefined || names === undefined) return undefined;
    return { names, path: leanPath(this.#path, names), finder: finderOf(names) };
  }

  #conclude(verdict: LeanVerdict, lean: PageFacts | undefined, full: PageFacts): LeanVerdict {
    this.#hash = undefined;
    this.#mode.compared(verdict, lean?.series, full.bytes, this.#clock.now());
    return verdict;
  }

  /** @returns undefined: a full page is to be read. */
  async #readLean(query: Query, signal: AbortSignal): Promise<Scraped | undefined> {
    if (!this.#mode.asksLean(this.#clock.now())) return undefined;
    if (query.names !== this.#reader.wantedNames) {
      this.#mode.restart();
      return undefined;
    }
    const result = await this.#fetch(signal, query.path);
    const nowMs = this.#clock.now();
    if (result.kind === 'failure') {
      this.#lost = this.#mode.failedLean(result.failure, nowMs);
      return this.#lost === undefined ? result : undefined;
    }
    const reading = this.#reader.read(result.page);
    this.#lost = this.#mode.tookLean(this.#leanFacts(result.page, query), sampleOf(reading), nowMs);
    return this.#lost === undefined ? { kind: 'page', reading, page: result.page, lean: true } : undefined;
  }

  /** Mostly those of the page before: then no names and labels have to be decoded. */
  #leanFacts(page: Uint8Array, query: Query): PageFacts {
    const before = this.#hash;
    this.#hash = seriesHash(page, query.finder);
    const { series } = this.#mode;
    const isSame = series !== undefined && this.#hash === before;
    return isSame ? { series, bytes: page.length } : factsOf(page, query);
  }

  async #readFull(signal: AbortSignal): Promise<Scraped> {
    const result = await this.#fetch(signal);
    if (result.kind === 'failure') {
      this.#mode.failedFull(result.failure.kind);
      return result;
    }
    const reading = this.#reader.read(result.page);
    const isDue = this.#mode.tookFull(sampleOf(reading), this.#clock.now());
    const query = isDue ? this.#newQuery() : undefined;
    if (query !== undefined) this.#toCompare = { full: factsOf(result.page, query), query };
    return { kind: 'page', reading, page: result.page, lean: false };
  }
}

function sampleOf(reading: SampleReading): Sample | undefined {
  return reading.kind === 'sample' ? reading.sample : undefined;
}

function finderOf(names: readonly string[]): LineFinder {
  const known = finders.get(names);
  if (known !== undefined) return known;
  const finder = new LineFinder(names);
  finders.set(names, finder);
  return finder;
}

function factsOf(page: Uint8Array, { finder }: Query): PageFacts {
  return { series: pageSeries(page, finder), bytes: page.length };
}

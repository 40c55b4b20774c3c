import type { PageResult, PageSource } from '../../src/collect/page-source.ts';
import { sleep } from '../../src/runtime/clock.ts';
import type { FakeClock } from './fake-clock.ts';

/** What an exporter makes of a filter. */
export type Filter =
  | 'works'
  | 'ignored'
  /** Several processes behind one port. */
  | 'empty'
  /** All but the last one of the series that are asked for. */
  | 'partial'
  /** The right series, twice the values. */
  | 'doubled'
  | 'status 404'
  | 'html'
  | 'hangs'
  | 'reset';

const PATH = '/metrics';
const FILLER = '# HELP vllm:other What nobody asks for, in a sentence of the usual length.\n'.repeat(60);

/** A page source that stands for an exporter, with series that the test sets. */
export class LeanExporter implements PageSource {
  filter: Filter = 'works';
  /** By name and labels. */
  readonly series = new Map<string, number>();
  /** Refuses every connection. */
  down = false;
  /** Called before each request that is answered. */
  onRequest: (() => void) | undefined;
  /** `full` or `lean`, and what it came to if that is no page. */
  readonly requests: string[] = [];
  /** Full pages as they were at each request since this was last emptied. */
  readonly truths: (PageResult & { readonly kind: 'page' })[] = [];
  /** Until an answer. */
  delayMs = 0;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  async fetch(signal: AbortSignal, path = PATH): Promise<PageResult> {
    const isLean = path !== PATH;
    this.requests.push(isLean ? 'lean' : 'full');
    if (this.down) return failure('refused');
    this.onRequest?.();
    const full = page(FILLER + lines([...this.series]));
    this.truths.push(full);
    const answer = isLean ? this.#lean(full, this.#wanted(path)) : full;
    if (this.delayMs === 0 && answer !== 'never') return answer;
    const answered = await sleep(this.#clock, answer === 'never' ? 1e9 : this.delayMs, signal);
    return answer === 'never' || !answered ? failure('timeout') : answer;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #lean(full: PageResult, wanted: readonly (readonly [string, number])[]): PageResult | 'never' {
    switch (this.filter) {
      case 'works':
        return page(lines(wanted));
      case 'ignored':
        return full;
      case 'empty':
        return page('');
      case 'partial':
        return page(lines(wanted.slice(0, -1)));
      case 'doubled':
        return page(lines(wanted.map(([key, value]) => [key, 2 * value])));
      case 'status 404':
        return failure('status');
      case 'html':
        return failure('not_metrics');
      case 'reset':
        return failure('reset');
      case 'hangs':
        return 'never';
    }
  }

  #wanted(path: string): (readonly [string, number])[] {
    const names = new URLSearchParams(path.slice(path.indexOf('?'))).getAll('name[]');
    return [...this.series].filter(([key]) => names.includes(key.replace(/\{.*/, '')));
  }
}

function page(text: string): PageResult & { readonly kind: 'page' } {
  return { kind: 'page', page: Buffer.from(text) };
}

function lines(series: readonly (readonly [string, number])[]): string {
  return series.map(([key, value]) => `${key} ${value}\n`).join('');
}

function failure(kind: 'refused' | 'status' | 'not_metrics' | 'reset' | 'timeout'): PageResult {
  return { kind: 'failure', failure: { kind, message: kind } };
}

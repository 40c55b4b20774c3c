import type { BackendId } from '../core/model/backend.ts';
import type { CollectFailureKind, CollectOutcome } from '../core/model/collection.ts';
import type { Clock } from '../runtime/clock.ts';
import type { CollectLog } from './collect-log.ts';
import type { PageSource } from './page-source.ts';
import { phaseOf } from './phase.ts';
import { type PageReader, Scrape, type Scraped } from './scrape.ts';

/** A comparison of two pages ends after this and so many times what the full page took: it must not cost a sample. */
const COMPARE_MS = 100;
const COMPARE_TIMES = 3;

/** The collections of one backend, one at a time. */
export class Poll {
  readonly #id: BackendId;
  readonly #source: PageSource;
  readonly #scrape: Scrape;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #log: CollectLog;
  /** Ends what is under way; once it has, another one takes its place. */
  #end = new AbortController();
  #closed = false;
  #running: Promise<unknown> | undefined;
  #lastMs: number | undefined;
  #failing: CollectFailureKind | undefined;
  #percentage = false;

  constructor(options: {
    readonly id: BackendId;
    readonly source: PageSource;
    readonly reader: PageReader;
    /** Where the page may be read lean; undefined: it may not. */
    readonly leanPath?: string | undefined;
    readonly timeoutMs: number;
    readonly clock: Clock;
    readonly log: CollectLog;
  }) {
    this.#id = options.id;
    this.#source = options.source;
    this.#scrape = new Scrape({ ...options, leanPath: options.leanPath, spread: phaseOf(options.id, 0) });
    this.#timeoutMs = options.timeoutMs;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  get busy(): boolean {
    return this.#running !== undefined;
  }

  /** How long the last collection took, answered or failed; undefined: none has ended. */
  get lastMs(): number | undefined {
    return this.#lastMs;
  }

  /**
   * Collects once; only when not {@link busy}. Never rejects.
   * @returns undefined when closed meanwhile
   */
  collect(): Promise<CollectOutcome | undefined> {
    const outcome = this.#collect().then((result) => {
      const isToBeCompared = this.#scrape.isToBeCompared && !this.#closed;
      this.#running = isToBeCompared ? this.#compare() : undefined;
      return result;
    });
    this.#running = outcome;
    return outcome;
  }

  /** Ends the collection under way and closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#end.abort();
    await this.#running;
    await this.#source.close();
  }

  async #collect(): Promise<CollectOutcome | undefined> {
    const startedAtMs = this.#clock.now();
    const result = await this.#within(this.#timeoutMs, (signal) => this.#scrape.read(signal));
    if (this.#closed) return undefined;
    const reason = this.#scrape.lost;
    if (reason !== undefined) this.#log.leanLost(this.#id, reason);
    const atMs = this.#clock.now();
    const times = { atMs, durationMs: atMs - startedAtMs };
    this.#lastMs = times.durationMs;
    const outcome = this.#outcome(result, times);
    this.#report(outcome);
    return outcome;
  }

  /** After the outcome, which it does not hold up. */
  async #compare(): Promise<void> {
    const limitMs = Math.min(this.#timeoutMs, COMPARE_MS + COMPARE_TIMES * (this.#lastMs ?? 0));
    const verdict = await this.#within(limitMs, (signal) => this.#scrape.compare(signal));
    this.#running = undefined;
    this.#log.compared(this.#id, verdict);
  }

  /** Ends what runs after a time, and when closing. */
  async #within<T>(limitMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#end.signal.aborted && !this.#closed) this.#end = new AbortController();
    const end = this.#end;
    const cancelDeadline = this.#clock.schedule(limitMs, () => {
      end.abort();
    });
    try {
      return await run(end.signal);
    } finally {
      cancelDeadline();
    }
  }

  #outcome(result: Scraped, times: { readonly atMs: number; readonly durationMs: number }): CollectOutcome {
    if (result.kind === 'failure') return { ...result, ...times };
    const { reading, page } = result;
    if (reading.kind === 'failure') return { ...reading, ...times };
    if (reading.kind === 'asleep') return { kind: 'asleep', bytes: page.length, ...times };
    if (reading.percentage && !this.#percentage) {
      this.#percentage = true;
      this.#log.percentage(this.#id);
    }
    return { kind: 'sample', sample: reading.sample, engine: reading.engine, bytes: page.length, ...times };
  }

  /** A backend's collection is logged when it begins to fail, fails in another way, or succeeds again. */
  #report(outcome: CollectOutcome): void {
    const failure = outcome.kind === 'failure' ? outcome.failure : undefined;
    // told once for all backends, when the files are read
    if (failure?.kind === 'credentials') return;
    const before = this.#failing;
    this.#failing = failure?.kind;
    if (failure?.kind !== before) this.#log.changed(this.#id, failure);
  }
}

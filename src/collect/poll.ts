import type { BackendId, CollectFailureKind, CollectOutcome } from '../core/model.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import type { CollectLog } from './collect-log.ts';
import type { PageResult, PageSource } from './page-source.ts';
import type { SampleReader } from './sample.ts';

/** The collections of one backend, one at a time. */
export class Poll {
  readonly #id: BackendId;
  readonly #source: PageSource;
  readonly #reader: SampleReader;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #log: CollectLog;
  readonly #closing = new AbortController();
  #running: Promise<CollectOutcome | undefined> | undefined;
  #lastMs: number | undefined;
  #failing: CollectFailureKind | undefined;
  #percentage = false;

  constructor(options: {
    readonly id: BackendId;
    readonly source: PageSource;
    readonly reader: SampleReader;
    readonly timeoutMs: number;
    readonly clock: Clock;
    readonly log: CollectLog;
  }) {
    this.#id = options.id;
    this.#source = options.source;
    this.#reader = options.reader;
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
   * Collects once, `delayMs` from the call on; only when not {@link busy}. Never rejects.
   * @returns undefined when closed meanwhile
   */
  collect(delayMs: number): Promise<CollectOutcome | undefined> {
    this.#running = this.#collect(delayMs).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Ends the collection under way and closes the connection. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#source.close();
  }

  async #collect(delayMs: number): Promise<CollectOutcome | undefined> {
    const closing = this.#closing.signal;
    if (delayMs > 0) await sleep(this.#clock, delayMs, closing);
    if (closing.aborted) return undefined;
    const startedAtMs = this.#clock.now();
    const result = await this.#fetch(closing);
    if (closing.aborted) return undefined;
    const atMs = this.#clock.now();
    const times = { atMs, durationMs: atMs - startedAtMs };
    this.#lastMs = times.durationMs;
    const outcome = this.#outcome(result, times);
    this.#report(outcome);
    return outcome;
  }

  async #fetch(closing: AbortSignal): Promise<PageResult> {
    const end = new AbortController();
    const abort = (): void => {
      end.abort();
    };
    const cancelDeadline = this.#clock.schedule(this.#timeoutMs, abort);
    closing.addEventListener('abort', abort);
    try {
      return await this.#source.fetch(end.signal);
    } catch (error) {
      return { kind: 'failure', failure: { kind: 'internal', message: printable(messageOf(error)) } };
    } finally {
      cancelDeadline();
      closing.removeEventListener('abort', abort);
    }
  }

  #outcome(
    result: PageResult,
    times: { readonly atMs: number; readonly durationMs: number },
  ): CollectOutcome {
    if (result.kind === 'failure') return { ...result, ...times };
    const reading = this.#reader.read(result.page);
    if (reading.kind === 'failure') return { ...reading, ...times };
    if (reading.percentage && !this.#percentage) {
      this.#percentage = true;
      this.#log.percentage(this.#id);
    }
    return { kind: 'sample', sample: reading.sample, bytes: result.page.length, ...times };
  }

  /** A backend's collection is logged when it begins to fail, fails in another way, or succeeds again. */
  #report(outcome: CollectOutcome): void {
    const failure = outcome.kind === 'failure' ? outcome.failure : undefined;
    const before = this.#failing;
    this.#failing = failure?.kind;
    if (failure?.kind !== before) this.#log.changed(this.#id, failure);
  }
}

import { type Clock, sleep } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import type { Discoverer, Found } from './discoverer.ts';

/** Before one that ended by itself is begun again. */
const RESTART_MS = 10_000;
const REASON_LENGTH = 300;
/** Of what a source leaves out. */
const LEFT_OUT_MAX = 100;

/** What a source told last. */
export interface SourceList {
  readonly found: readonly Found[];
  readonly leftOut: readonly string[];
  readonly atMs: number;
}

export interface SourceFailure {
  readonly reason: string;
  readonly sinceMs: number;
}

export interface SourceObserver {
  /** It told a complete list. */
  listed(list: SourceList): void;
  /** An attempt to read it failed; the reason is another one than before, or not. */
  failed(failure: SourceFailure): void;
}

/** A discoverer that runs, and what it told last. */
export class Source {
  readonly #clock: Clock;
  readonly #end = new AbortController();
  readonly #observer: SourceObserver;
  #list: SourceList | undefined;
  #failure: SourceFailure | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(clock: Clock, observer: SourceObserver) {
    this.#clock = clock;
    this.#observer = observer;
  }

  /** undefined: it has not told any. */
  get list(): SourceList | undefined {
    return this.#list;
  }

  /** undefined: it can be read. */
  get failure(): SourceFailure | undefined {
    return this.#failure;
  }

  /** Runs it until {@link stop}. @param open makes the discoverer */
  start(open: () => Discoverer): void {
    this.#running = this.#run(open);
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  /** One that ends by itself has a fault of ours: it begins again after a while, and the last list stands. */
  async #run(open: () => Discoverer): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      try {
        await open().run(
          {
            found: (list, leftOut) => {
              if (!signal.aborted) this.#found(list, leftOut);
            },
            failed: (reason) => {
              if (!signal.aborted) this.#fail(reason);
            },
          },
          signal,
        );
        if (!signal.aborted) this.#fail('it ended by itself');
      } catch (error) {
        if (!signal.aborted) this.#fail(messageOf(error));
      }
      await sleep(this.#clock, RESTART_MS, signal);
    }
  }

  #found(found: readonly Found[], leftOut: readonly string[]): void {
    const lines = leftOut.slice(0, LEFT_OUT_MAX).map((line) => printable(line));
    this.#failure = undefined;
    this.#list = { found, leftOut: lines, atMs: this.#clock.now() };
    this.#observer.listed(this.#list);
  }

  #fail(reason: string): void {
    const sinceMs = this.#failure?.sinceMs ?? this.#clock.now();
    this.#failure = { reason: printable(reason, REASON_LENGTH), sinceMs };
    this.#observer.failed(this.#failure);
  }
}

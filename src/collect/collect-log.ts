import type { BackendId } from '../core/model/backend.ts';
import type { CollectFailure, CollectFailureKind } from '../core/model/collection.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { shortened } from '../runtime/shortened.ts';

const PERIOD_MS = 10_000;
/** Lines about single backends in a period. */
const LINES_MAX = 20;
/** Of one backend: it may fail in several ways until it succeeds again. */
const OWN_LINES_MAX = 4;
const NAMES_SHOWN = 5;

interface Entry {
  failing: CollectFailureKind | undefined;
  /** Lines that it has had. */
  lines: number;
  /** Changes that no line has told. */
  untold: number;
}

/**
 * Tells in the log when backends begin to fail, fail in another way, and succeed again. The first ones get a line each;
 * of a backend that goes to and fro, and of many at once, one line every 10 s has their number, so that neither a
 * backend that flaps nor a fleet that goes down floods the log.
 */
export class CollectLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #entries = new Map<BackendId, Entry>();
  #lines = 0;
  #saidPercentage = false;
  #cancel: (() => void) | undefined;

  constructor(options: { readonly log: Logger; readonly clock: Clock }) {
    this.#log = options.log;
    this.#clock = options.clock;
  }

  /** @param failure undefined: it succeeds again. */
  changed(backend: BackendId, failure: CollectFailure | undefined): void {
    const entry = this.#entries.get(backend) ?? { failing: undefined, lines: 0, untold: 0 };
    entry.failing = failure?.kind;
    this.#entries.set(backend, entry);
    this.#cancel ??= this.#schedule();
    if (entry.lines >= OWN_LINES_MAX || this.#lines >= LINES_MAX) {
      entry.untold++;
      return;
    }
    entry.lines++;
    this.#lines++;
    if (failure === undefined) this.#log.info({ backend }, 'collection succeeds again');
    else {
      const reason = failure.message;
      this.#log.warn(
        { backend, reason },
        'collection fails: the backend stays in, unless OnCollectFailure is Remove',
      );
    }
  }

  /** A backend tells its KV cache in percent. Said of the first one: it is true of all of its kind. */
  percentage(backend: BackendId): void {
    if (this.#saidPercentage) return;
    this.#saidPercentage = true;
    this.#log.info(
      { backend },
      'KV cache utilisation is above 1.1: read as a percentage, also of other backends',
    );
  }

  /** A backend's page is read in full again. */
  leanLost(backend: BackendId, reason: string): void {
    const level = this.#lines < LINES_MAX ? 'info' : 'debug';
    this.#lines++;
    this.#cancel ??= this.#schedule();
    this.#log[level]({ backend, reason }, 'back from the lean page to the full one');
  }

  /** A backend's lean page was compared with the full one. */
  compared(backend: BackendId, verdict: object | undefined): void {
    this.#log.debug({ backend, ...verdict }, 'compared a lean page with the full one');
  }

  /** Logs what is still to be told. Nothing is scheduled afterwards, until the next change. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#sumUp();
    this.#entries.clear();
  }

  #schedule(): () => void {
    return this.#clock.schedule(PERIOD_MS, () => {
      this.#sumUp();
      this.#cancel = this.#entries.size > 0 ? this.#schedule() : undefined;
    });
  }

  /** Forgets those that were quiet. */
  #sumUp(): void {
    this.#lines = 0;
    for (const [backend, { untold }] of this.#entries) if (untold === 0) this.#entries.delete(backend);
    if (this.#entries.size === 0) return;
    const names = shortened([...this.#entries.keys()], NAMES_SHOWN);
    const reasons: Partial<Record<CollectFailureKind, number>> = {};
    let changes = 0;
    for (const entry of this.#entries.values()) {
      const { failing } = entry;
      if (failing !== undefined) reasons[failing] = (reasons[failing] ?? 0) + 1;
      changes += entry.untold;
      entry.untold = 0;
    }
    this.#log.warn(
      { backends: names, total: this.#entries.size, changes, failing: reasons },
      'collections fail or succeed again: one line for all that came on top',
    );
  }
}

import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

const PERIOD_MS = 10_000;

/** How many events are told apart; those beyond share a line by kind. */
const LIMIT = 256;

interface Entry {
  fields: object;
  message: string;
  /** Since the last line. */
  suppressed: number;
}

/**
 * Warnings that others can cause as often as they like. The first of a kind and origin is logged at once, the rest are
 * counted, and every 10 s one line has the latest of them and their number: so neither the log nor the memory grows
 * with their rate or with the number of origins.
 */
export class LogLimiter {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  #cancel: (() => void) | undefined;

  constructor(options: { readonly log: Logger; readonly clock: Clock }) {
    this.#log = options.log;
    this.#clock = options.clock;
  }

  /**
   * @param kind one of a bounded set.
   * @param origin who caused it; of bounded length.
   */
  warn(kind: string, origin: string, fields: object, message: string): void {
    const own = `${kind}\n${origin}`;
    const key = this.#entries.has(own) || this.#entries.size < LIMIT ? own : kind;
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, { fields, message, suppressed: 0 });
      this.#log.warn(fields, message);
      this.#cancel ??= this.#schedule();
    } else {
      entry.fields = fields;
      entry.message = message;
      entry.suppressed++;
    }
  }

  /** Logs what is still to be told. Nothing is scheduled afterwards, until the next warning. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    for (const entry of this.#entries.values()) this.#tell(entry);
    this.#entries.clear();
  }

  #schedule(): () => void {
    return this.#clock.schedule(PERIOD_MS, () => {
      for (const [key, entry] of this.#entries) if (!this.#tell(entry)) this.#entries.delete(key);
      this.#cancel = this.#entries.size > 0 ? this.#schedule() : undefined;
    });
  }

  /** @returns whether there was anything. */
  #tell(entry: Entry): boolean {
    if (entry.suppressed === 0) return false;
    this.#log.warn({ ...entry.fields, times: entry.suppressed }, entry.message);
    entry.suppressed = 0;
    return true;
  }
}

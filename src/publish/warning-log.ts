import type { GroupDecision } from '../core/model/decision.ts';
import type { Logger } from '../runtime/log.ts';
import { TokenBucket } from '../runtime/token-bucket.ts';

/** Lines about one group: so many at once, and then one in 10 s. */
const LINES_AT_ONCE = 6;
const LINES_PER_SECOND = 0.1;

interface Entry {
  /** As last told. */
  words: string;
  readonly lines: TokenBucket;
}

/**
 * Logs the warnings of groups when they begin, change or end, not at each evaluation. Of those that come and go all the
 * time it tells every now and then how it is.
 */
export class WarningLog {
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();

  constructor(log: Logger) {
    this.#log = log;
  }

  evaluated({ serverGroup, warnings, atMs }: Pick<GroupDecision, 'serverGroup' | 'warnings' | 'atMs'>): void {
    const words = warnings.join('; ');
    const entry = this.#entries.get(serverGroup) ?? this.#add(serverGroup, atMs);
    if (entry.words === words || !entry.lines.take(atMs)) return;
    entry.words = words;
    if (words === '') this.#log.info({ serverGroup }, 'no warnings any more');
    else this.#log.warn({ serverGroup, warnings }, 'server group needs attention');
  }

  /** The group is gone. */
  forget(serverGroup: string): void {
    this.#entries.delete(serverGroup);
  }

  #add(serverGroup: string, atMs: number): Entry {
    const entry = { words: '', lines: new TokenBucket(LINES_PER_SECOND, atMs, LINES_AT_ONCE) };
    this.#entries.set(serverGroup, entry);
    return entry;
  }
}

import type { Logger } from '../runtime/log.ts';
import { TokenBucket } from '../runtime/token-bucket.ts';
import type { Sidecars } from './sidecars.ts';

const LINES_AT_ONCE = 6;
const LINES_PER_SECOND = 0.1;
const NODES_SHOWN = 10;

/** Logs that sidecars are behind, that they are no more, and who was lost while behind; all of them in one line. */
export class SidecarLog {
  readonly #log: Logger;
  readonly #sidecars: Sidecars;
  readonly #now: () => number;
  readonly #lines: TokenBucket;
  /** The most that were told of since there was none. */
  #behind = 0;
  #lost = 0;

  /** @param now monotonic milliseconds. */
  constructor(log: Logger, sidecars: Sidecars, now: () => number) {
    this.#log = log;
    this.#sidecars = sidecars;
    this.#now = now;
    this.#lines = new TokenBucket(LINES_PER_SECOND, now(), LINES_AT_ONCE);
  }

  /** To be called every few seconds. */
  look(): void {
    const { counts, lost } = this.#sidecars;
    if (lost > this.#lost && this.#mayWrite()) {
      this.#log.warn(
        {
          lost: lost - this.#lost,
          nodes: this.#sidecars.gone.slice(0, NODES_SHOWN).map(({ of }) => of.node),
        },
        'sidecars were lost while they were behind: those that still run go on with older weights',
      );
      this.#lost = lost;
    }
    const { behind, total } = counts;
    if (behind > this.#behind && this.#mayWrite()) {
      const nodes = this.#sidecars.behind.slice(0, NODES_SHOWN).map(({ of }) => of.node);
      this.#log.warn({ behind, total, nodes }, 'sidecars are behind: they go on with older weights');
      this.#behind = behind;
    } else if (behind === 0 && this.#behind > 0 && this.#mayWrite()) {
      this.#log.info({ total }, 'no connected sidecar is behind any more');
      this.#behind = 0;
    }
  }

  #mayWrite(): boolean {
    return this.#lines.take(this.#now());
  }
}

import type { Trends } from '../../state-shape.ts';
import { askAdmin } from './ask-admin.ts';

const EVERY_MS = 15_000;

/** Asks for the trend lines of one group, again every 15 s and when its backends are other ones. */
export class TrendsFollower {
  readonly #onTrends: (trends: Trends | undefined) => void;
  #key = '';
  #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onTrends: (trends: Trends | undefined) => void) {
    this.#onTrends = onTrends;
  }

  /** @param membership of the group, as in its state */
  follow(serverGroup: string, instance: string, membership: number): void {
    const key = JSON.stringify([serverGroup, instance, membership]);
    if (key === this.#key) return;
    this.#key = key;
    this.#abort.abort();
    clearTimeout(this.#timer);
    this.#abort = new AbortController();
    void this.#ask(serverGroup, this.#abort.signal);
  }

  async #ask(serverGroup: string, signal: AbortSignal): Promise<void> {
    try {
      const response = await askAdmin(`trends/${encodeURIComponent(serverGroup)}`, signal);
      if (response.ok) this.#onTrends((await response.json()) as Trends);
    } catch {
      // the lines stay as they are; that the connection is lost is told elsewhere
    }
    if (signal.aborted) return;
    this.#timer = setTimeout(() => void this.#ask(serverGroup, signal), EVERY_MS);
  }
}

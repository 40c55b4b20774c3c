import type { LogLimiter } from '../runtime/log-limiter.ts';
import type { XdsObserver } from './observer.ts';
import type { Refusal } from './refusal.ts';

/** Makes heard whom a limit has stopped: a count for each limit, and log lines that do not grow with their rate. */
export class Refusals {
  readonly #observer: XdsObserver;
  readonly #warnings: LogLimiter;

  constructor(observer: XdsObserver, warnings: LogLimiter) {
    this.#observer = observer;
    this.#warnings = warnings;
  }

  /**
   * @param client printable, as in the counts of the limits.
   * @param node the node's id, printable; empty: not told yet.
   */
  tell({ limit, details }: Pick<Refusal, 'limit' | 'details'>, client: string, node: string): void {
    this.#observer.refused(limit);
    this.#warnings.warn(
      `refused ${limit}`,
      client,
      { client, node, limit, reason: details },
      'a client went beyond a limit of Xds.Limits',
    );
  }
}

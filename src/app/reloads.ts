import type { ConfigurationHistory, ReloadCause } from '../admin/configuration-history.ts';
import type { Metrics } from '../admin/metrics.ts';
import { ConfigurationInForce } from '../config/in-force.ts';
import type { ConfigurationFile } from '../config/schema.ts';
import type { Configuration } from '../core/model/configuration.ts';
import type { Logger } from '../runtime/log.ts';

/** What a reload cannot change. */
const FIXED_PARTS = ['xds', 'admin', 'log'] as const;
const FIXED_FIELDS = ['Xds', 'Admin', 'Log'] as const;

/** Tells log, metrics and page which configuration is in force, what became of reloads, and what they cannot change. */
export class Reloads {
  readonly #inForce: ConfigurationInForce;
  readonly #history: ConfigurationHistory;
  readonly #metrics: Metrics;
  readonly #log: Logger;

  constructor(options: {
    /** What is in force from the start; undefined: it comes from no file. */
    readonly fields: ConfigurationFile | undefined;
    readonly history: ConfigurationHistory;
    readonly metrics: Metrics;
    readonly log: Logger;
  }) {
    this.#inForce = new ConfigurationInForce(options.fields);
    this.#history = options.history;
    this.#metrics = options.metrics;
    this.#log = options.log;
    this.#history.taken('start', this.#inForce.yaml, []);
  }

  /**
   * Warns of what `after` does not bring about.
   * @returns the parts of the file that a restart is needed for.
   */
  compare(before: Configuration, after: Configuration): readonly string[] {
    const fixed = FIXED_PARTS.filter((part) => JSON.stringify(before[part]) !== JSON.stringify(after[part]));
    const needsRestart = FIXED_FIELDS.filter((_, index) => fixed.includes(FIXED_PARTS[index] ?? 'log'));
    for (const part of needsRestart) {
      this.#log.warn(`a change of ${part} needs a restart; the value from before stays in force`);
    }
    if (before.listeners.length > 0 && after.listeners.length === 0) {
      this.#log.warn('no listeners any more: sidecars keep those that they have');
    }
    return needsRestart;
  }

  /**
   * A configuration was put in force.
   * @param needsRestart as {@link compare} returned it
   * @param fields the file that it comes from; undefined: none, what has changed is not said.
   */
  taken(
    { serverGroups }: Configuration,
    because: ReloadCause,
    needsRestart: readonly string[],
    fields: ConfigurationFile | undefined,
  ): void {
    this.#metrics.reloaded('success');
    const changes = fields === undefined ? [] : this.#inForce.replace(fields);
    this.#history.taken(because, this.#inForce.yaml, changes, needsRestart);
    this.#log.info({ because, changes, serverGroups: serverGroups.length }, 'configuration reloaded');
  }

  /** @param mistakes at least one, in words */
  refused(because: ReloadCause, mistakes: readonly string[]): void {
    this.#metrics.reloaded('failure');
    this.#history.refused(because, mistakes);
    this.#log.error(
      { because, mistakes: mistakes.slice(0, 20), total: mistakes.length },
      'reload refused: nothing has changed',
    );
  }
}

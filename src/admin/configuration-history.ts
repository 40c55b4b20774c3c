import { printable } from '../runtime/text.ts';
import type { ConfigurationState, Reload, UnixMs, Warning } from './state-shape.ts';

const RELOADS_KEPT = 20;
const MISTAKES_SHOWN = 20;
const MISTAKE_LENGTH = 500;

/** What made the configuration be read. */
export type ReloadCause = Reload['because'];

/** The configuration in force and how it came to be. */
export class ConfigurationHistory {
  readonly #file: string;
  readonly #now: () => UnixMs;
  #yaml = '';
  #inForceSince = 0;
  #needsRestart: readonly string[] = [];
  /** Newest first. */
  #reloads: readonly Reload[] = [];

  /** @param file its path, for people. */
  constructor(file: string, now: () => UnixMs) {
    this.#file = printable(file, 1000);
    this.#now = now;
  }

  /**
   * A configuration is in force.
   * @param yaml without secrets
   * @param changes in words
   * @param needsRestart parts of the file that are another than in force
   */
  taken(
    because: ReloadCause,
    yaml: string,
    changes: readonly string[],
    needsRestart: readonly string[] = [],
  ): void {
    const at = this.#now();
    if (this.#yaml !== yaml || this.#inForceSince === 0) this.#inForceSince = at;
    this.#yaml = yaml;
    this.#needsRestart = needsRestart;
    this.#add({ at, because, outcome: 'taken', changes });
  }

  /** The file has mistakes: what was in force stays. */
  refused(because: ReloadCause, mistakes: readonly string[]): void {
    this.#add({
      at: this.#now(),
      because,
      outcome: 'refused',
      mistakes: mistakes.slice(0, MISTAKES_SHOWN).map((text) => printable(text, MISTAKE_LENGTH)),
      moreMistakes: Math.max(0, mistakes.length - MISTAKES_SHOWN),
    });
  }

  get state(): ConfigurationState {
    return {
      file: this.#file,
      yaml: this.#yaml,
      inForceSince: this.#inForceSince,
      reloads: this.#reloads,
    };
  }

  /** They end when a file is taken that gives no reason for them. */
  get warnings(): readonly Warning[] {
    const [latest] = this.#reloads;
    const warnings: Warning[] = [];
    if (latest?.outcome === 'refused') {
      const more = latest.mistakes.length + latest.moreMistakes - 1;
      warnings.push({
        text: `the changed configuration is refused, what stood before is in force: ${latest.mistakes[0] ?? ''}${more > 0 ? ` and ${more} more` : ''}`,
        remedy: `Mend the file: it is read again as soon as it changes. \`plimsoll validate --config ${this.#file}\` lists every mistake.`,
      });
    }
    if (this.#needsRestart.length > 0) {
      warnings.push({
        text: `a change of ${this.#needsRestart.join(' and ')} waits for a restart`,
        remedy:
          'The value from before stays in force until Plimsoll is started anew; sidecars keep what they have meanwhile.',
      });
    }
    return warnings;
  }

  #add(reload: Reload): void {
    this.#reloads = [reload, ...this.#reloads].slice(0, RELOADS_KEPT);
  }
}

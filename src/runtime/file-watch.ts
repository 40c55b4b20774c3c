import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from './clock.ts';
import { namesOnTheWay } from './names-on-the-way.ts';

/** How often the files are looked at without any sign of a change: network file systems give none. */
const POLL_MS = 30_000;

/** From the first sign of a change until it is told: whoever writes several files has mostly done so by then. */
const DEBOUNCE_MS = 200;

/**
 * Says when it is time to read files again: soon after a change of theirs, of a folder or of a symbolic link on the way
 * to them, and every half minute in any case. It does not say that anything is different.
 */
export class FileWatch {
  readonly #paths: readonly string[];
  readonly #clock: Clock;
  readonly #onChange: () => void;
  #watchers: readonly FSWatcher[] = [];
  #cancelPoll: (() => void) | undefined;
  #cancelDebounce: (() => void) | undefined;

  /** Watches from now on, until {@link close}. */
  constructor(options: {
    readonly paths: readonly string[];
    readonly clock: Clock;
    readonly onChange: () => void;
  }) {
    this.#paths = options.paths;
    this.#clock = options.clock;
    this.#onChange = options.onChange;
    this.#watch();
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
    this.#cancelPoll?.();
    this.#cancelDebounce?.();
  }

  /** The way to a file may lead over other folders than before, so each time it is looked for anew. */
  #watch(): void {
    this.close();
    this.#cancelDebounce = undefined;
    this.#cancelPoll = this.#clock.schedule(POLL_MS, () => {
      this.#tell();
    });
    const names = new Map<string, Set<string>>();
    for (const path of this.#paths) {
      for (const [folder, own] of namesOnTheWay(path)) {
        names.set(folder, new Set([...(names.get(folder) ?? []), ...own]));
      }
    }
    this.#watchers = [...names].flatMap(([folder, own]) => this.#watchFolder(folder, own) ?? []);
  }

  /** undefined: the folder is not there or cannot be watched; the poll stands in. */
  #watchFolder(folder: string, names: ReadonlySet<string>): FSWatcher | undefined {
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name === null || names.has(name)) this.#notice();
      });
      watcher.on('error', () => {
        watcher.close();
      });
      return watcher;
    } catch {
      return undefined;
    }
  }

  #notice(): void {
    this.#cancelDebounce ??= this.#clock.schedule(DEBOUNCE_MS, () => {
      this.#tell();
    });
  }

  #tell(): void {
    this.#watch();
    this.#onChange();
  }
}

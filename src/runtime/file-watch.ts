import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from './clock.ts';
import { namesOnTheWay } from './names-on-the-way.ts';

/** How often the files are looked at without any sign of a change: network file systems give none. */
const POLL_MS = 30_000;

/** From the first sign of a change until it is told: whoever writes several files has mostly done so by then. */
const DEBOUNCE_MS = 200;

/** The way to the files should be known by then: on a network file system that hangs it never is. */
const ANSWER_MS = 10_000;

type Names = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Says when it is time to read files again: soon after a change of theirs, of a folder or of a symbolic link on the way
 * to them, and every half minute in any case. It does not say that anything is different. Nothing here waits for a file
 * system within the event loop; of one that hangs nothing is told before it answers, and no more is asked meanwhile.
 */
export class FileWatch {
  readonly #paths: readonly string[];
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #onSilence: () => void;
  readonly #namesOf: (path: string) => Promise<Names>;
  #watchers: readonly FSWatcher[] | undefined;
  #cancelNext: (() => void) | undefined;
  #cancelDebounce: (() => void) | undefined;
  #isLooking = false;
  /** A sign came while the way was looked for. */
  #isAsked = false;
  #isClosed = false;
  #settled = Promise.resolve(true);

  /** Watches from now on, until {@link close}: that there was a change before is taken for granted, and told. */
  constructor(options: {
    readonly paths: readonly string[];
    readonly clock: Clock;
    readonly onChange: () => void;
    /** The way to the files cannot be looked at: nothing comes for 10 s. It is told once, until something comes. */
    readonly onSilence?: () => void;
    /** Default: {@link namesOnTheWay}. */
    readonly namesOf?: (path: string) => Promise<Names>;
  }) {
    this.#paths = options.paths;
    this.#clock = options.clock;
    this.#onChange = options.onChange;
    this.#onSilence = options.onSilence ?? (() => undefined);
    this.#namesOf = options.namesOf ?? namesOnTheWay;
    this.#look();
  }

  /** Resolves when the way to the files has been looked at, `false` when nothing comes. */
  settled(): Promise<boolean> {
    return this.#settled;
  }

  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers ?? []) watcher.close();
    this.#cancelNext?.();
    this.#cancelDebounce?.();
  }

  /** The way to a file may lead over other folders than before, so each time it is looked for anew. */
  #look(): void {
    this.#cancelDebounce?.();
    this.#cancelDebounce = undefined;
    // each that hangs keeps a thread
    if (this.#isLooking) {
      this.#isAsked = true;
      return;
    }
    this.#isLooking = true;
    this.#cancelNext?.();
    this.#settled = new Promise((resolve) => {
      this.#cancelNext = this.#clock.schedule(ANSWER_MS, () => {
        resolve(false);
        this.#onSilence();
      });
      void this.#folders().then((folders) => {
        resolve(true);
        this.#isLooking = false;
        if (!this.#isClosed) this.#follow(folders);
      });
    });
  }

  /** The names that count in each folder. */
  async #folders(): Promise<Names> {
    const names = new Map<string, Set<string>>();
    for (const path of this.#paths) {
      for (const [folder, own] of await this.#namesOf(path)) {
        names.set(folder, new Set([...(names.get(folder) ?? []), ...own]));
      }
    }
    return names;
  }

  #follow(folders: Names): void {
    const isFirst = this.#watchers === undefined;
    for (const watcher of this.#watchers ?? []) watcher.close();
    this.#watchers = [...folders].flatMap(([folder, own]) => this.#watchFolder(folder, own) ?? []);
    this.#cancelNext?.();
    this.#cancelNext = this.#clock.schedule(POLL_MS, () => {
      this.#look();
    });
    if (isFirst || this.#isAsked) this.#notice();
    this.#isAsked = false;
    if (!isFirst) this.#onChange();
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
      this.#look();
    });
  }
}

import { createHash } from 'node:crypto';
import type { App } from '../app.ts';
import { contentDigest, formatMistake, loadConfiguration } from '../config/load.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { FileWatch } from '../runtime/file-watch.ts';

/** A file that is bad may be half written: only what is still so after this long is complained about. */
const SETTLE_MS = 1_000;

type Loaded = Awaited<ReturnType<typeof loadConfiguration>>;

/**
 * Keeps the configuration in force that its file has: reads it again when it changes, in place or by another target of a
 * symbolic link on the way to it, and when told to. A bad file changes nothing. However fast changes come, one reading
 * after the other is made, and the last one sees the last change.
 */
export class ConfigReloader {
  readonly #file: string;
  readonly #app: Pick<App, 'reload' | 'reloadRefused'>;
  readonly #clock: Clock;
  readonly #watch: FileWatch;
  readonly #closing = new AbortController();
  /** What the file meant when it was last taken or refused. */
  #known: string;
  /** Its content when it was last taken or refused; undefined: it was changing at that time. */
  #content: string | undefined;
  #asked: 'signal' | 'file' | undefined;
  #reading: Promise<void> | undefined;

  /** @param options.loaded what is in force already. */
  constructor(options: {
    readonly file: string;
    readonly loaded: Loaded;
    readonly app: Pick<App, 'reload' | 'reloadRefused'>;
    readonly clock: Clock;
  }) {
    this.#file = options.file;
    this.#app = options.app;
    this.#clock = options.clock;
    this.#known = digestOf(options.loaded);
    this.#watch = new FileWatch({
      paths: [options.file],
      clock: options.clock,
      onChange: () => {
        this.#ask('file');
      },
    });
  }

  /** Reads the file, and takes or refuses it even if it is as before. */
  reload(): void {
    this.#ask('signal');
  }

  /** Resolves when the file is not being read any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#watch.close();
    await this.#reading;
  }

  #ask(because: 'signal' | 'file'): void {
    // a signal is answered, whatever else there is to read for
    if (this.#asked !== 'signal') this.#asked = because;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
  }

  async #readAll(): Promise<void> {
    while (this.#asked !== undefined && !this.#closing.signal.aborted) {
      const because = this.#asked;
      this.#asked = undefined;
      const loaded = await this.#read(because);
      if (loaded === undefined || this.#closing.signal.aborted) continue;
      this.#known = digestOf(loaded);
      if (loaded.kind === 'valid') this.#app.reload(loaded.configuration, because, loaded.fields);
      else this.#app.reloadRefused(because, loaded.mistakes.map(formatMistake));
    }
  }

  /** undefined: nothing to take or to refuse, or another reading is asked for already. */
  async #read(because: 'signal' | 'file'): Promise<Loaded | undefined> {
    const content = await contentDigest(this.#file);
    // it is looked at again and again, and to understand it takes its time
    if (because === 'file' && content === this.#content) return undefined;
    const loaded = await this.#settled(because);
    // what was read in between may have been something else
    this.#content = content === (await contentDigest(this.#file)) ? content : undefined;
    return loaded;
  }

  async #settled(because: 'signal' | 'file'): Promise<Loaded | undefined> {
    const loaded = await loadConfiguration(this.#file);
    if (because === 'signal') return loaded;
    if (digestOf(loaded) === this.#known) return undefined;
    if (loaded.kind === 'valid') return loaded;
    await sleep(this.#clock, SETTLE_MS, this.#closing.signal);
    const again = await loadConfiguration(this.#file);
    if (again.kind === 'valid' || digestOf(again) === digestOf(loaded)) return again;
    // it is still being written: that is told
    this.#asked ??= 'file';
    return undefined;
  }
}

/** Of what the file means, so that a comment more changes nothing. */
function digestOf(loaded: Loaded): string {
  const content = loaded.kind === 'valid' ? loaded.fields : loaded.mistakes;
  return createHash('sha256').update(JSON.stringify(content)).digest('base64');
}

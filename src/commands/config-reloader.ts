import { createHash } from 'node:crypto';
import type { App } from '../app.ts';
import { type Content, formatMistake, type LoadResult, parseContent, readContent } from '../config/load.ts';
import type { Clock } from '../runtime/clock.ts';
import { FileWatch } from '../runtime/file-watch.ts';
import { type FilePlace, placeOf, type SeenFile, wholeFile } from '../runtime/whole-file.ts';

/** A file that is written in place may be half written, also where half of it is valid: what it says has to stand for so long. */
const SETTLE_MS = 1_000;
/** However often it is another one: a file that something writes all the time would never be read. */
const SETTLE_TIMES = 30;

/** What was seen under the name of the file. */
interface Seen extends SeenFile {
  readonly content: Content;
}

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
  /** What the file meant when it was last taken or refused. */
  #known: string;
  /** Its content at that time; undefined: not known. */
  #digest: string | undefined;
  /** Which file it was at that time. */
  #place: Promise<FilePlace>;
  #asked: 'signal' | 'file' | undefined;
  #reading: Promise<void> | undefined;
  /** Ends the wait for a file that is being written. */
  #waiting = new AbortController();
  #isClosed = false;

  /** @param options.loaded what is in force already. */
  constructor(options: {
    readonly file: string;
    readonly loaded: LoadResult;
    readonly app: Pick<App, 'reload' | 'reloadRefused'>;
    readonly clock: Clock;
  }) {
    this.#file = options.file;
    this.#app = options.app;
    this.#clock = options.clock;
    this.#known = meaningOf(options.loaded);
    this.#place = placeOf(options.file);
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
    this.#isClosed = true;
    this.#waiting.abort();
    this.#watch.close();
    await this.#reading;
  }

  #ask(because: 'signal' | 'file'): void {
    // a signal is answered, whatever else there is to read for
    if (this.#asked !== 'signal') this.#asked = because;
    if (because === 'signal') this.#waiting.abort();
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
  }

  async #readAll(): Promise<void> {
    while (this.#asked !== undefined && !this.#isClosed) {
      const because = this.#asked;
      this.#asked = undefined;
      this.#waiting = new AbortController();
      const seen = await (because === 'signal' ? this.#look() : this.#changed());
      if (seen === undefined || this.#isClosed) continue;
      this.#digest = seen.digest;
      this.#place = Promise.resolve(seen.place);
      const loaded = parseContent(seen.content, this.#file);
      const meaning = meaningOf(loaded);
      if (because === 'file' && meaning === this.#known) continue;
      this.#known = meaning;
      if (loaded.kind === 'valid') this.#app.reload(loaded.configuration, because, loaded.fields);
      else this.#app.reloadRefused(because, loaded.mistakes.map(formatMistake));
    }
  }

  /** What the file says after a change, once it is whole; undefined: what it said before, or the wait was ended. */
  async #changed(): Promise<Seen | undefined> {
    const seen = await wholeFile({
      look: () => this.#look(),
      before: { digest: this.#digest, place: await this.#place },
      standsMs: SETTLE_MS,
      waitsMax: SETTLE_TIMES,
      clock: this.#clock,
      signal: this.#waiting.signal,
    });
    // it is looked at again and again, and to understand it takes its time
    if (seen === undefined || seen.digest !== this.#digest) return seen;
    this.#place = Promise.resolve(seen.place);
    return undefined;
  }

  async #look(): Promise<Seen> {
    const place = await placeOf(this.#file);
    const content = await readContent(this.#file);
    return { place, content, digest: sha256(JSON.stringify(content)) };
  }
}

/** Of what the file means, so that a comment more changes nothing. */
function meaningOf(loaded: LoadResult): string {
  return sha256(JSON.stringify(loaded.kind === 'valid' ? loaded.fields : loaded.mistakes));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

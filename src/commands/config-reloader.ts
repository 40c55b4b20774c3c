import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import type { App } from '../app.ts';
import { type Content, formatMistake, type LoadResult, parseContent, readContent } from '../config/load.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { FileWatch } from '../runtime/file-watch.ts';

/** A file that is written in place may be half written, also where half of it is valid: what it says has to stand for so long. */
const SETTLE_MS = 1_000;
/** However often it is another one: a file that something writes all the time would never be read. */
const SETTLE_TIMES = 30;

/** What was seen under the name of the file. */
interface Seen {
  readonly content: Content;
  readonly digest: string;
  readonly place: Place;
}

/** Which file it was. */
interface Place {
  /** Where symbolic links lead; undefined: to nothing. */
  readonly path: string | undefined;
  /** Another one when another file is there. */
  readonly inode: string | undefined;
  /** Nothing has happened to it since it was written to: it was not renamed after that. */
  readonly isWrittenLast: boolean;
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
  #place: Promise<Place>;
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
    let before = await this.#place;
    let seen = await this.#look();
    for (let times = 0; times < SETTLE_TIMES; times++) {
      // it is looked at again and again, and to understand it takes its time
      if (seen.digest === this.#digest) {
        this.#place = Promise.resolve(seen.place);
        return undefined;
      }
      if (!mayGrow(seen.place, before)) break;
      const { digest, place } = seen;
      if (!(await sleep(this.#clock, SETTLE_MS, this.#waiting.signal))) return undefined;
      seen = await this.#look();
      if (seen.digest === digest) break;
      before = place;
    }
    return seen;
  }

  async #look(): Promise<Seen> {
    // first, so that another file that comes in between counts as written in place: that one is waited for
    const place = await placeOf(this.#file);
    const content = await readContent(this.#file);
    return { place, content, digest: sha256(JSON.stringify(content)) };
  }
}

async function placeOf(file: string): Promise<Place> {
  try {
    const path = await realpath(file);
    const { dev, ino, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return { path, inode: `${dev} ${ino}`, isWrittenLast: mtimeNs === ctimeNs };
  } catch {
    return { path: undefined, inode: undefined, isWrittenLast: true };
  }
}

/**
 * Whether more may be written to what is there now: not to a file that was put there whole, by renaming it or by another
 * target of a symbolic link.
 */
function mayGrow(now: Place, before: Place): boolean {
  if (now.path !== before.path && now.path !== undefined && before.path !== undefined) return false;
  return now.inode === before.inode || now.isWrittenLast;
}

/** Of what the file means, so that a comment more changes nothing. */
function meaningOf(loaded: LoadResult): string {
  return sha256(JSON.stringify(loaded.kind === 'valid' ? loaded.fields : loaded.mistakes));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

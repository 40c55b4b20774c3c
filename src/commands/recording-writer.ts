import { once } from 'node:events';
import { open, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { RecordingEnd, RecordingGap } from '../replay/recording.ts';
import { PlimsollError } from '../runtime/errors.ts';
import { fileFault } from '../runtime/file-fault.ts';
import { printable } from '../runtime/text.ts';

/** What was written so long ago can be read, whatever becomes of this process. */
const FLUSH_MS = 5_000;

/** Writes a recording: lines of JSON, compressed by gzip. */
export class RecordingWriter {
  readonly #gzip = createGzip();
  readonly #output: Writable & { readonly bytesWritten: number };
  readonly #done: Promise<void>;
  readonly #flush: NodeJS.Timeout;
  #failure: PlimsollError | undefined;

  /**
   * @throws PlimsollError `usage` when there is such a file already, `io` when it cannot be made.
   */
  static async create(path: string): Promise<RecordingWriter> {
    try {
      return new RecordingWriter(path, (await open(path, await flagFor(path))).createWriteStream());
    } catch (error) {
      if (error instanceof PlimsollError) throw error;
      throw new PlimsollError(
        'io',
        `${printable(path)} cannot be written: ${fileFault(error, 'its folder is not there')}`,
      );
    }
  }

  private constructor(path: string, output: Writable & { readonly bytesWritten: number }) {
    this.#output = output;
    this.#done = pipeline(this.#gzip, output).catch((error: unknown) => {
      const reason = `${printable(path)} cannot be written any more: ${fileFault(error)}`;
      this.#failure = new PlimsollError('io', `${reason}; what it has so far is kept`);
    });
    this.#flush = setInterval(() => {
      if (this.#failure === undefined) this.#gzip.flush(constants.Z_SYNC_FLUSH);
    }, FLUSH_MS);
  }

  /** Compressed, as far as they are with the file. */
  get bytes(): number {
    return this.#output.bytesWritten;
  }

  /** @throws PlimsollError `io` when the file takes no more. */
  async write(line: string | RecordingGap | RecordingEnd): Promise<void> {
    this.#check();
    const text = typeof line === 'string' ? line : JSON.stringify(line);
    if (this.#gzip.write(`${text}\n`)) return;
    await Promise.race([once(this.#gzip, 'drain').catch(() => undefined), this.#done]);
    this.#check();
  }

  /** @throws PlimsollError `io` when the file did not take all of it. */
  async end(): Promise<void> {
    clearInterval(this.#flush);
    this.#gzip.end();
    await this.#done;
    this.#check();
  }

  /** Lets go of a file that takes no more. */
  async abandon(): Promise<void> {
    clearInterval(this.#flush);
    this.#gzip.destroy();
    await this.#done;
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Nothing that somebody recorded is written over; what is no file, such as a pipe, has nothing to lose. */
async function flagFor(path: string): Promise<'w' | 'wx'> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return 'wx';
  if (!found.isFile()) return 'w';
  throw new PlimsollError('usage', `${printable(path)} is there already: give another name`);
}

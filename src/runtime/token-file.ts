import { createHash, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import { messageOf, PlimsollError } from './errors.ts';
import { FileWatch } from './file-watch.ts';
import { inTime } from './in-time.ts';
import type { Logger } from './log.ts';
import { printable } from './text.ts';

const LENGTH = { min: 16, max: 4096 } as const;

type ReadToken =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'bad'; readonly reason: string };

/** The token that a file holds, read again whenever it changes. A file that is no good changes nothing. */
export class TokenFile {
  readonly #field: string;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #watch: FileWatch | undefined;
  #digest: Buffer | undefined;
  #complaint = '';
  #checks = Promise.resolve();

  constructor(options: {
    /** The field that names the file, for messages. */
    readonly field: string;
    readonly path: string;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#field = options.field;
    this.#path = options.path;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /**
   * Reads the file and watches it from then on.
   * @throws PlimsollError `io` when it holds no token.
   */
  async open(): Promise<void> {
    const read = await readToken(this.#path);
    if (read.kind === 'bad') throw new PlimsollError('io', this.#inWords(read.reason));
    this.#digest = digestOf(read.token);
    this.#watch = new FileWatch({
      paths: [this.#path],
      clock: this.#clock,
      onChange: () => {
        this.#checks = this.#checks.then(() => this.#check());
      },
    });
  }

  /** Whether `text` is the token. How long it takes tells nothing of it. */
  is(text: string): boolean {
    return this.#digest !== undefined && timingSafeEqual(this.#digest, digestOf(text));
  }

  /** Resolves when the file is not being read any more. */
  async close(): Promise<void> {
    this.#watch?.close();
    await this.#checks;
  }

  async #check(): Promise<void> {
    const read = await readToken(this.#path);
    const complaint = read.kind === 'bad' ? this.#inWords(read.reason) : '';
    if (read.kind === 'token' && !this.is(read.token)) {
      this.#digest = digestOf(read.token);
      this.#log.info(`${this.#field}: a new token is in force`);
    }
    if (complaint !== '' && complaint !== this.#complaint) {
      this.#log.error({ reason: complaint }, `${this.#field}: the token from before stays in force`);
    }
    this.#complaint = complaint;
  }

  #inWords(reason: string): string {
    return `${this.#field} ${printable(this.#path)}: ${reason}`;
  }
}

/** White space around the token is not part of it. */
export async function readToken(path: string): Promise<ReadToken> {
  try {
    return tokenIn(await inTime(path, () => readStart(path)));
  } catch (error) {
    return { kind: 'bad', reason: `cannot be read: ${printable(messageOf(error))}` };
  }
}

async function readStart(path: string): Promise<string> {
  // a named pipe without a writer would be waited for without end
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(2 * LENGTH.max), position: null });
    return buffer.subarray(0, bytesRead).toString('utf8').trim();
  } finally {
    await file.close();
  }
}

function tokenIn(token: string): ReadToken {
  if (new RegExp(`^[!-~]{${LENGTH.min},${LENGTH.max}}$`).test(token)) return { kind: 'token', token };
  const reason = `must hold a token of ${LENGTH.min}..${LENGTH.max} visible ASCII characters, no space`;
  return { kind: 'bad', reason };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

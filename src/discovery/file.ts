import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { formatMistake, type Mistake } from '../config/mistake.ts';
import { LIST_BYTES_MAX, readList } from '../config/parsed-list.ts';
import { parseServerList } from '../config/server-list.ts';
import { parseTargetGroups } from '../config/target-groups.ts';
import type { FileDiscovery } from '../core/model/discovery.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import { fileFault } from '../runtime/file-fault.ts';
import { FileWatch } from '../runtime/file-watch.ts';
import { isReadableFolder } from '../runtime/readable-folder.ts';
import { readSmallFile } from '../runtime/small-file.ts';
import { printable } from '../runtime/text.ts';
import { type FilePlace, NOWHERE, placeOf, type SeenFile, wholeFile } from '../runtime/whole-file.ts';
import type { Discoverer, DiscoveryObserver, Found } from './discoverer.ts';
import { foundTargets } from './targets.ts';

/** A file that is written in place, or created anew, may be half written: what it says has to stand for so long. */
const SETTLE_MS = 500;
/** However often it is another one: a file that something writes all the time would never be read. */
const SETTLE_TIMES = 10;
/** Beyond it the file is out of reach: one on a network file system may never be read to its end. */
const READ_MS = 10_000;
const NOTHING_CAME = `nothing came for ${READ_MS / 1000} s`;

/** What a file holds. */
interface Content extends SeenFile {
  readonly bytes: Buffer;
}

type Reading =
  | { readonly kind: 'list'; readonly found: readonly Found[]; readonly leftOut: readonly string[] }
  | { readonly kind: 'bad'; readonly reason: string };

/**
 * Backends by a list in a file, which is read whenever it changes and every half minute. It may be replaced by renaming
 * another one, by a symbolic link on the way to it, or be written in place. What cannot be read or understood changes
 * nothing.
 */
export class FileDiscoverer implements Discoverer {
  readonly #settings: FileDiscovery;
  readonly #clock: Clock;
  /** Which file was read last; nowhere: it could not be. */
  #place: FilePlace = NOWHERE;
  /** What was understood last, and what it was made of. */
  #reading: Reading | undefined;
  #digest: string | undefined;
  /** What is being read. */
  #pending: Promise<Content> | undefined;

  constructor(options: { readonly settings: FileDiscovery; readonly clock: Clock }) {
    this.#settings = options.settings;
    this.#clock = options.clock;
  }

  async run(observer: DiscoveryObserver, signal: AbortSignal): Promise<void> {
    let wake = (): void => undefined;
    let isDue = true;
    const watch = new FileWatch({
      paths: [this.#settings.path],
      clock: this.#clock,
      onChange: () => {
        isDue = true;
        wake();
      },
      onSilence: () => {
        const { path } = this.#settings;
        if (!signal.aborted) observer.failed(`${printable(path)}: cannot be read: ${NOTHING_CAME}`);
      },
    });
    const onAbort = (): void => {
      wake();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    while (!signal.aborted) {
      if (isDue) {
        isDue = false;
        await this.#look(observer, signal);
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    signal.removeEventListener('abort', onAbort);
    watch.close();
  }

  async #look(observer: DiscoveryObserver, signal: AbortSignal): Promise<void> {
    const reading = await this.#read(signal);
    if (reading === undefined || signal.aborted) return;
    if (reading.kind === 'bad') observer.failed(reading.reason);
    else observer.found(reading.found, reading.leftOut);
  }

  /** @returns undefined: it is the end. */
  async #read(signal: AbortSignal): Promise<Reading | undefined> {
    const { path } = this.#settings;
    try {
      const content = await wholeFile({
        look: () => this.#contentOf(path, signal),
        before: { digest: this.#digest, place: this.#place },
        standsMs: SETTLE_MS,
        waitsMax: SETTLE_TIMES,
        clock: this.#clock,
        signal,
      });
      if (content === undefined) return undefined;
      this.#place = content.place;
      if (content.digest === this.#digest) return this.#reading;
      this.#reading = await this.#parse(content.bytes);
      this.#digest = content.digest;
      return this.#reading;
    } catch (error) {
      this.#place = NOWHERE;
      return { kind: 'bad', reason: `${printable(path)}: ${messageOf(error)}` };
    }
  }

  /**
   * One that hangs is waited for before another is begun: each keeps a thread.
   * @throws Error when the file cannot be read in time.
   */
  async #contentOf(path: string, signal: AbortSignal): Promise<Content> {
    this.#pending ??= contentOf(path).finally(() => {
      this.#pending = undefined;
    });
    const wait = new AbortController();
    const limit = sleep(this.#clock, READ_MS, AbortSignal.any([signal, wait.signal]));
    try {
      const content = await Promise.race([this.#pending, limit]);
      if (typeof content === 'boolean') throw new Error(`cannot be read: ${NOTHING_CAME}`);
      return content;
    } finally {
      wait.abort();
    }
  }

  async #parse(bytes: Buffer): Promise<Reading> {
    const { path, format } = this.#settings;
    const text = utf8(bytes);
    if (text === undefined) {
      return { kind: 'bad', reason: `${printable(path)}: is not UTF-8, the only encoding that is read` };
    }
    switch (format) {
      case 'Plimsoll': {
        const list = await readList(text, (piece) => parseServerList(piece, path));
        if (list.kind === 'invalid') return bad(list);
        const found = list.items.map(({ Address: address, Port: port, Weight: weight, Zone: zone }) => ({
          address,
          port,
          weight,
          zone,
        }));
        return { kind: 'list', found, leftOut: [] };
      }
      case 'PrometheusSd': {
        const list = await readList(text, (piece) => parseTargetGroups(piece, path));
        return list.kind === 'invalid' ? bad(list) : { kind: 'list', ...foundTargets(list.items) };
      }
    }
  }
}

/** @throws Error saying why it cannot be read. */
async function contentOf(path: string): Promise<Content> {
  // one that hangs keeps one thread for all that is asked of it
  await isReadableFolder(dirname(path));
  const place = await placeOf(path);
  const bytes = await bytesOf(path);
  return { bytes, digest: createHash('sha256').update(bytes).digest('base64'), place };
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    return await readSmallFile(path, LIST_BYTES_MAX);
  } catch (error) {
    const fault = error instanceof Error ? error.cause : error;
    throw new Error(`cannot be read: ${fileFault(fault)}`, { cause: error });
  }
}

/** undefined: it is none, or half of one. */
function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function bad({ mistakes, more }: { readonly mistakes: readonly Mistake[]; readonly more: number }): Reading {
  const [first] = mistakes;
  const others = mistakes.length + more - 1;
  const also = others > 0 ? `, and ${others} more` : '';
  return { kind: 'bad', reason: first === undefined ? 'it has mistakes' : `${formatMistake(first)}${also}` };
}

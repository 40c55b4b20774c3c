import { createReadStream, type ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import type { RecordedLine } from '../replay/recording.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';
import { fileFault } from '../runtime/file-fault.ts';
import { printable } from '../runtime/text.ts';
import { LineSplitter } from './line-splitter.ts';
import { readLine } from './recording-shape.ts';

/** What is wrong with a recording whose good part can be used. */
export interface ReadProblems {
  /** Lines that cannot be read, and what is wrong with the first one. */
  badLines: number;
  firstBad: string | undefined;
  /** Why nothing can be read from somewhere on. */
  brokenOff: string | undefined;
}

/** Pieces that wait to be used. */
const WAITING_MAX = 8;

/**
 * The lines of a recording, as far as they can be read.
 * @param problems what is wrong is noted here
 * @throws PlimsollError `io` when it cannot be read, `usage` when it is no recording.
 */
export async function* readRecording(path: string, problems: ReadProblems): AsyncGenerator<RecordedLine> {
  const file = await openFile(path);
  let isFirst = true;
  for await (const text of textLines(file, problems)) {
    const read = readLine(text);
    if (isFirst && !(read.kind === 'line' && read.line.kind === 'plimsoll samples')) {
      const reason = read.kind === 'bad' ? read.reason : 'it does not begin with a header';
      throw new PlimsollError('usage', `${printable(path)} is no recording: ${reason}`);
    }
    isFirst = false;
    if (read.kind === 'line') yield read.line;
    if (read.kind !== 'bad') continue;
    problems.badLines++;
    problems.firstBad ??= read.reason;
  }
  if (isFirst) {
    throw new PlimsollError(
      'usage',
      `${printable(path)} is no recording: ${problems.brokenOff ?? 'it is empty'}`,
    );
  }
}

async function openFile(path: string): Promise<ReadStream> {
  const magic = Buffer.alloc(2);
  try {
    const handle = await open(path);
    const { bytesRead } = await handle.read(magic, 0, 2, 0).catch(async (error: unknown) => {
      await handle.close();
      throw error;
    });
    await handle.close();
    if (bytesRead === 2 && magic[0] === 0x1f && magic[1] === 0x8b) return createReadStream(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EISDIR')
      throw new PlimsollError('usage', `${printable(path)} is no recording: ${fileFault(error)}`);
    throw new PlimsollError('io', `${printable(path)} cannot be read: ${fileFault(error)}`);
  }
  throw new PlimsollError('usage', `${printable(path)} is no recording: it is not compressed with gzip`);
}

/** A line that does not end is left out; why there is no more than that, is noted. */
async function* textLines(file: ReadStream, problems: ReadProblems): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  const splitter = new LineSplitter();
  try {
    for await (const piece of inflated(file)) yield* splitter.push(decoder.write(piece));
    if (splitter.rest !== '') problems.brokenOff = 'it ends within a line';
  } catch (error) {
    problems.brokenOff = messageOf(error);
  }
}

/** What comes before a mistake in the compressed data is given out first; a stream's own iterator throws it away. */
async function* inflated(file: ReadStream): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  const waiting: Buffer[] = [];
  let state: { readonly error: unknown } | 'open' | 'ended' = 'open';
  let wake = (): void => undefined;
  const ended = (how: typeof state): void => {
    state = how;
    wake();
  };
  file.on('error', (error) => ended({ error }));
  gunzip.on('error', (error) => ended({ error }));
  gunzip.on('end', () => ended('ended'));
  gunzip.on('data', (piece: Buffer) => {
    waiting.push(piece);
    if (waiting.length >= WAITING_MAX) gunzip.pause();
    wake();
  });
  file.pipe(gunzip);
  try {
    for (;;) {
      const piece = waiting.shift();
      if (piece !== undefined) {
        yield piece;
        continue;
      }
      const now = state as { readonly error: unknown } | 'open' | 'ended';
      if (now === 'ended') return;
      if (now !== 'open') throw now.error;
      const more = new Promise<void>((resolve) => {
        wake = resolve;
      });
      gunzip.resume();
      await more;
    }
  } finally {
    file.destroy();
    gunzip.destroy();
  }
}

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { messageOf } from './errors.ts';
import { inTime } from './in-time.ts';

const FILE_BYTES_MAX = 1024 * 1024;

/**
 * Reads a file of at most 1 MiB, or another size.
 * @throws Error `cannot be read: …` when it is larger, no regular file, or cannot be read within 10 s.
 */
export async function readSmallFile(path: string, bytesMax = FILE_BYTES_MAX): Promise<Buffer> {
  try {
    return await inTime(path, () => read(path, bytesMax));
  } catch (error) {
    throw new Error(`cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

async function read(path: string, bytesMax: number): Promise<Buffer> {
  // opening a pipe waits for its writer
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    // reading a pipe might never end
    if (!found.isFile()) throw new Error('it is no regular file');
    const bytes = found.size > bytesMax ? undefined : await readWithin(file, bytesMax);
    if (bytes === undefined) throw new Error(`it is larger than ${bytesMax} bytes`);
    return bytes;
  } finally {
    await file.close();
  }
}

/** @returns undefined: it is larger, whatever it said of its size. */
async function readWithin(file: FileHandle, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file.createReadStream({ end: bytesMax, autoClose: false })) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return bytes > bytesMax ? undefined : Buffer.concat(chunks);
}

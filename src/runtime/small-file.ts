import { readFile, stat } from 'node:fs/promises';
import { messageOf } from './errors.ts';

const FILE_BYTES_MAX = 1024 * 1024;

/**
 * Reads a file of at most 1 MiB.
 * @throws Error `cannot be read: …` when it is larger, no regular file, or cannot be read.
 */
export async function readSmallFile(path: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    // reading a pipe might never end
    if (found.isFile() && found.size <= FILE_BYTES_MAX) return await readFile(path);
    throw new Error(found.isFile() ? `it is larger than ${FILE_BYTES_MAX} bytes` : 'it is no regular file');
  } catch (error) {
    throw new Error(`cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

import { createHash } from 'node:crypto';
import { messageOf } from './errors.ts';
import { HEADER_VALUE_LENGTH_MAX, isHeaderValue } from './header-value.ts';
import type { FilesRead } from './reloaded-files.ts';
import { readSmallFile } from './small-file.ts';
import { printable } from './text.ts';

/**
 * Reads the value of a header from a file; white space around it, like the end of its line, is left out. A reason names
 * the field and the file, never what is in it.
 */
export async function readHeaderFile(field: string, path: string): Promise<FilesRead<string>> {
  try {
    const value = (await readSmallFile(path)).toString('latin1').trim();
    if (isHeaderValue(value)) return { kind: 'good', digest: digestOf(value), value };
    throw new Error(
      value === ''
        ? 'it is empty'
        : `it does not hold 1..${HEADER_VALUE_LENGTH_MAX} visible ASCII characters in one line`,
    );
  } catch (error) {
    const reason = `${field} ${printable(path)}: ${messageOf(error)}`;
    return { kind: 'bad', digest: digestOf(reason), reason };
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

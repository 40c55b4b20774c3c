import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Configuration } from '../core/model/configuration.ts';
import { fileFault } from '../runtime/file-fault.ts';
import { check, type Checked } from './check.ts';
import type { Mistake } from './mistake.ts';
import { resolveConfiguration } from './resolve.ts';
import type { ConfigurationFile } from './schema.ts';
import { parseTree } from './tree.ts';

export { formatMistake, formatMistakes, type Mistake } from './mistake.ts';

const FILE_BYTES_MAX = 4 * 1024 * 1024;

export type LoadResult =
  | {
      readonly kind: 'valid';
      readonly configuration: Configuration;
      /** As they stand in the file. */
      readonly fields: ConfigurationFile;
    }
  | { readonly kind: 'invalid'; readonly mistakes: readonly Mistake[] };

/** Reads a configuration from JSON or YAML. `file` is its name in mistakes. */
export function parseConfiguration(text: string, file: string): LoadResult {
  return resolve(parseFields(text, file));
}

/** Reads a configuration file; one that cannot be read is a mistake at its first line. */
export async function loadConfiguration(file: string): Promise<LoadResult> {
  return parseContent(await readContent(file), file);
}

/** Like {@link loadConfiguration}, with the fields as they stand in the file instead of what they mean. */
export async function loadFields(file: string): Promise<Checked> {
  return fieldsOf(await readContent(file), file);
}

/** What {@link loadConfiguration} makes of a file with this content. */
export function parseContent(content: Content, file: string): LoadResult {
  return resolve(fieldsOf(content, file));
}

function fieldsOf(content: Content, file: string): Checked {
  if (content.kind === 'text') return parseFields(content.text, file);
  return { kind: 'invalid', mistakes: [{ file, line: 1, column: 1, path: '', message: content.message }] };
}

function resolve(checked: Checked): LoadResult {
  if (checked.kind === 'invalid') return checked;
  const { fields } = checked;
  return { kind: 'valid', configuration: resolveConfiguration(fields), fields };
}

function parseFields(text: string, file: string): Checked {
  const tree = parseTree(text, file);
  const checked = tree.kind === 'tree' ? check(tree.top, file) : tree;
  if (checked.kind === 'valid') return checked;
  const mistakes = checked.mistakes.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { kind: 'invalid', mistakes };
}

/** What stands in a file, or why it cannot be read. */
export type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly message: string };

/** Reads a configuration file and understands nothing of it, which costs little even where it is large. */
export async function readContent(file: string): Promise<Content> {
  let handle: FileHandle | undefined;
  try {
    // a named pipe without a writer would be waited for without end
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = await readAtMost(handle, FILE_BYTES_MAX + 1);
    if (bytes.length > FILE_BYTES_MAX) {
      return {
        kind: 'unreadable',
        message: `is larger than ${FILE_BYTES_MAX} bytes (4 MiB), the most that is read`,
      };
    }
    return decode(bytes);
  } catch (error) {
    return { kind: 'unreadable', message: `cannot be read: ${fileFault(error)}` };
  } finally {
    await handle?.close();
  }
}

/** Reads by chunks: the size of a pipe or device is not known beforehand. */
async function readAtMost(handle: FileHandle, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let length = 0; length < limit; ) {
    const chunk = Buffer.alloc(Math.min(64 * 1024, limit - length));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    chunks.push(chunk.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer): Content {
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { kind: 'unreadable', message: 'is not UTF-8, the only encoding that is read' };
  }
}

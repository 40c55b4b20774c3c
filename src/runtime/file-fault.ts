import { messageOf } from './errors.ts';

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EISDIR', 'it is a directory'],
  ['EACCES', 'permission denied'],
  ['ENOTDIR', 'a part of its path is not a directory'],
  ['ENOSPC', 'the disk is full'],
]);

/**
 * Why a file cannot be used, in words where there are some.
 * @param absent what it means that it is not there
 */
export function fileFault(error: unknown, absent = 'there is no such file'): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT') return absent;
  return REASONS.get(code) ?? messageOf(error);
}

/** Whether an error, or one that caused it, says that there is no such file. */
export function isNoFile(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ENOENT') || isNoFile(error.cause);
}

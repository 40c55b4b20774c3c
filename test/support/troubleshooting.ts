import { readFileSync } from 'node:fs';

/** What an operator reads when something is wrong. */
export const TROUBLESHOOTING = readFileSync(
  new URL('../../deploy/troubleshooting.md', import.meta.url),
  'utf8',
);

/** Each match of a pattern once, its first group. */
export function named(pattern: RegExp, text = TROUBLESHOOTING): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))];
}

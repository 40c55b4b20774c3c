import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Asserts that a file of test/golden holds exactly `text`. With `UPDATE_GOLDEN=1` in the environment it is written
 * instead: look at what git says has changed.
 * @param path below test/golden
 */
export function assertGolden(path: string, text: string): void {
  assertFile(new URL(`../golden/${path}`, import.meta.url), text);
}

/** The same for a file that stands elsewhere and must be in step with what makes it. */
export function assertFile(url: URL, text: string): void {
  const file = fileURLToPath(url);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return;
  }
  assert.equal(text, readFileSync(file, 'utf8'), `${file} differs; UPDATE_GOLDEN=1 writes it anew`);
}

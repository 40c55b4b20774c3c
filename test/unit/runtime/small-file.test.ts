import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { readSmallFile } from '../../../src/runtime/small-file.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-small-file-'));
});
after(() => {
  rmSync(folder, { recursive: true });
});

test('a file up to the limit is read, a larger one is not', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'x'.repeat(200_000));
  assert.equal((await readSmallFile(path, 200_000)).length, 200_000);
  await assert.rejects(
    readSmallFile(path, 199_999),
    /^Error: cannot be read: it is larger than 199999 bytes$/,
  );
  writeFileSync(path, '');
  assert.equal((await readSmallFile(path, 0)).length, 0);
});

test('a file that has more than it says is read no further than the limit', async () => {
  // its size is told as 0
  await assert.rejects(readSmallFile('/proc/self/maps', 100), /it is larger than 100 bytes$/);
});

test('a pipe that nobody writes to, a device and a folder are none', async () => {
  const pipe = join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/zero', folder])
    await assert.rejects(readSmallFile(path), /^Error: cannot be read: it is no regular file$/);
});

import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LogSink } from '../../../src/runtime/log-sink.ts';
import { waitFor } from '../../support/wait-for.ts';

test('lines are written whole and in order; what comes on top of 1 MiB that waits is dropped', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-test-'));
  const file = join(folder, 'log');
  const fd = openSync(file, 'w');
  t.after(async () => {
    closeSync(fd);
    await rm(folder, { recursive: true });
  });
  const sink = new LogSink(fd);
  const line = (i: number): string => `${i} ${'x'.repeat(1000)}\n`;
  for (let i = 0; i < 3000; i++) sink.write(line(i));
  const written = await waitFor('the end of what waited', () => {
    const text = readFileSync(file, 'utf8');
    return text.length > 1_000_000 && text;
  });
  const lines = written.split('\n').slice(0, -1);
  assert.deepEqual(
    lines,
    lines.map((_, i) => line(i).trimEnd()),
  );
  assert.ok(lines.length < 1100, `${lines.length} lines`);
  sink.write('last\n');
  await waitFor('a line after that', () => readFileSync(file, 'utf8').endsWith('\nlast\n'));
});

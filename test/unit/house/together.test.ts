import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TOGETHER } from '../../support/together.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('test files that share a process have no hooks of a whole file', () => {
  for (const folder of TOGETHER) {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    const tests = files.filter((file) => file.endsWith('.test.ts'));
    assert.ok(tests.length > 0, folder);
    for (const file of tests) {
      const text = readFileSync(join(root, folder, file), 'utf8');
      assert.doesNotMatch(text, /^(before|after)(Each)?\(/m, folder + file);
    }
  }
});

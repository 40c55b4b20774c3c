import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMistake, parseConfiguration } from '../../../src/config/load.ts';
import { badFiles } from './bad/all.ts';
import { GOOD } from './bad/bad-file.ts';

for (const [kind, files] of Object.entries(badFiles)) {
  test(`bad files: ${kind}`, async (context) => {
    for (const { name, text, mistakes } of files) {
      await context.test(name, () => {
        const result = parseConfiguration(text, 'plimsoll.yaml');
        assert.equal(result.kind, 'invalid');
        assert.deepEqual(
          result.mistakes.map(formatMistake),
          mistakes.map((mistake) => `plimsoll.yaml:${mistake}`),
        );
      });
    }
  });
}

test('the good file that the bad ones are made from is good', () => {
  assert.equal(parseConfiguration(GOOD, 'plimsoll.yaml').kind, 'valid');
});

test('every mistake has its parts', () => {
  const result = parseConfiguration('Xds: {Listen: here}\n', 'plimsoll.yaml');
  assert.deepEqual(result.kind === 'invalid' && result.mistakes[1], {
    file: 'plimsoll.yaml',
    line: 1,
    column: 15,
    path: 'Xds.Listen',
    message:
      'is "here", but must be an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000": it is not of this form',
  });
});

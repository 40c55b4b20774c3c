import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockFace, parseDuration } from '../../../src/commands/duration.ts';

test('seconds, minutes and hours, from 1 s to 168 h', () => {
  const good = ['1s', '90s', '10m', '1.5h', '168h'].map((text) => parseDuration(text));
  assert.deepEqual(good, [1, 90, 600, 5400, 604_800]);
  for (const text of [
    '',
    '10',
    'm',
    '0s',
    '0.5s',
    '169h',
    '-1s',
    '1e3s',
    '10 m',
    '10M',
    '9'.repeat(400) + 's',
  ]) {
    assert.equal(parseDuration(text), undefined, text);
  }
});

test('a clock face', () => {
  assert.deepEqual([0, 59.9, 192, 36_000].map(clockFace), ['0:00:00', '0:00:59', '0:03:12', '10:00:00']);
});

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { hashText, mix } from '../../../src/core/hash.ts';

test('the hash of a text is FNV-1a', () => {
  assert.equal(hashText(''), 0x811c9dc5);
  assert.equal(hashText('a'), 0xe40c292c);
  assert.equal(hashText('foobar'), 0xbf9cf968);
});

test('mixing spreads neighbours over the whole range', () => {
  const quarters = [0, 0, 0, 0];
  for (let value = 0; value < 4000; value++) {
    const quarter = Math.floor(mix(value) / 2 ** 30);
    quarters[quarter] = (quarters[quarter] ?? 0) + 1;
  }
  for (const count of quarters) assert.ok(Math.abs(count - 1000) < 150, `${count} of 4000 in one quarter`);
});

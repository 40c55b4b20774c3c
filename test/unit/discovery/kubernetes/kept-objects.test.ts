import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptObjects } from '../../../../src/discovery/kubernetes/kept-objects.ts';

test('full, it takes no other object, and any change of one that fits', () => {
  const kept = new KeptObjects<readonly string[]>(3, (list) => list.length);
  for (const name of ['a', 'b', 'c']) assert.equal(kept.set(name, []), 'changed');
  assert.equal(kept.set('d', []), 'full');
  assert.equal(kept.set('b', []), 'same');
  assert.equal(kept.set('b', ['1', '2', '3']), 'changed');
  assert.equal(kept.set('b', ['4', '5', '6']), 'changed');
  assert.equal(kept.set('a', ['7']), 'full');
  assert.equal(kept.set('b', ['4', '5', '6', '7']), 'full');
  assert.deepEqual(
    [...kept.all.entries()],
    [
      ['a', []],
      ['b', ['4', '5', '6']],
      ['c', []],
    ],
  );
  assert.equal(kept.delete('c'), true);
  assert.equal(kept.set('d', []), 'changed');
  assert.equal(kept.set('b', ['8']), 'changed');
  assert.equal(kept.set('a', ['9', '10']), 'changed');
});

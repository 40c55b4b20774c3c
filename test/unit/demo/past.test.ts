import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Past } from '../../../src/demo/past.ts';

test('a value is told of when it is old enough, and until the next one is', () => {
  const past = new Past<string>(100);
  assert.equal(past.at(0), undefined);
  past.put(0, 'a');
  past.put(50, 'b');
  past.put(90, 'c');
  assert.deepEqual(
    [0, 149, 150, 189, 190, 5000].map((nowMs) => past.at(nowMs)),
    ['a', 'a', 'b', 'b', 'c', 'c'],
  );
  past.put(6000, 'd');
  assert.deepEqual([past.at(6099), past.at(6100)], ['c', 'd']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standingListeners } from '../../../src/publish/standing-listeners.ts';
import { listener } from '../../support/configuration.ts';

const ASSIGNED = ['a', 'c'];

const CASES: readonly (readonly [name: string, of: string, before: readonly string[], stays: boolean])[] = [
  ['one that moves to a group without an assignment stays', 'b', ['a'], true],
  ['one that moves to another goes there', 'c', ['a'], false],
  ['a new one goes where it is to go', 'b', [], false],
  ['one whose group has none, as before, is the new one', 'b', ['b'], false],
  ['one that moves from one without to another without stays', 'b', ['gone'], true],
];
for (const [name, of, before, stays] of CASES) {
  test(name, () => {
    const moved = listener(of, { port: 1 });
    const former = before.map((group) => listener(group));
    const isAssigned = (group: string): boolean => ASSIGNED.includes(group);
    assert.deepEqual(standingListeners([moved], former, isAssigned), stays ? former : [moved]);
  });
}

test('the former one stays as it was, and it alone', () => {
  const a = listener('a');
  const other = listener('c', { name: 'other' });
  assert.deepEqual(
    standingListeners(
      [listener('b', { port: 1 }), other],
      [a, listener('a', { name: 'removed' })],
      (name) => name !== 'b',
    ),
    [a, other],
  );
});

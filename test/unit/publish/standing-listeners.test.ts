import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standingListeners } from '../../../src/publish/standing-listeners.ts';
import { listener, serverGroup } from '../../support/configuration.ts';

const a = listener('a');
const groups = ['a', 'b', 'c'].map((name) => serverGroup(name));

const CASES: readonly (readonly [
  name: string,
  of: string,
  before: readonly string[],
  waiting: string,
  where: string,
])[] = [
  ['one that moves to a group that waits stays', 'b', ['a'], 'b', 'a'],
  ['one that moves to another goes there', 'b', ['a'], 'c', 'b'],
  ['a new one goes where it is to go', 'b', [], 'b', 'b'],
  ['one whose group waits, as it did, stays there', 'b', ['b'], 'b', 'b'],
  ['one whose former group is gone goes where it is to go', 'b', ['gone'], 'b', 'b'],
];
for (const [name, of, before, waiting, where] of CASES) {
  test(name, () => {
    const standing = standingListeners(
      { serverGroups: groups, listeners: [{ ...a, serverGroup: of, port: 1 }] },
      before.map((group) => ({ ...a, serverGroup: group })),
      (group) => group === waiting,
    );
    assert.deepEqual(
      standing.map((one) => one.serverGroup),
      [where],
    );
  });
}

test('the former one stays as it was, and it alone', () => {
  const other = listener('c', { name: 'other' });
  const configuration = { serverGroups: groups, listeners: [{ ...a, serverGroup: 'b', port: 1 }, other] };
  assert.deepEqual(
    standingListeners(configuration, [a, listener('a', { name: 'removed' })], (name) => name === 'b'),
    [a, other],
  );
});

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ApplyDelay } from '../../../src/publish/apply-delay.ts';

const [ONE, TWO, THREE] = [{ name: 'one' }, { name: 'two' }, { name: 'three' }];

/** The parts of the delay of each assignment that was applied, ms. */
let applied: string[];
let unapplied: string[];
let delay: ApplyDelay;

beforeEach(() => {
  applied = [];
  unapplied = [];
  delay = new ApplyDelay({
    applied: (times) => {
      const parts = [times.collect, times.publish, times.sidecars];
      applied.push(parts.map((seconds) => Math.round(seconds * 1000)).join(' + '));
    },
    unapplied: (reason, streams) => {
      unapplied.push(`${reason} ${streams}`);
    },
  });
});

/** Published because of a collection that began 30 ms ago and ended 10 ms ago. */
function publish(version: string, atMs: number): void {
  delay.published(version, { startedAtMs: atMs - 30, endedAtMs: atMs - 10 }, atMs);
}

/** They have what was published first, and are waited for from then on. */
function follow(...streams: readonly object[]): void {
  publish('first', 0);
  for (const stream of streams) delay.acknowledged(stream, 'first', 5);
}

test('it ends with the last stream, and tells where the time went', () => {
  follow(ONE, TWO);
  publish('v1', 1000);
  delay.acknowledged(ONE, 'v1', 1005);
  assert.deepEqual(applied, []);
  delay.acknowledged(TWO, 'v1', 1040);
  assert.deepEqual(applied, ['20 + 10 + 40']);
  delay.acknowledged(TWO, 'v1', 1050);
  assert.equal(applied.length, 1);
});

test('without streams there is nothing to tell, and the first that comes is not waited for', () => {
  publish('v1', 1000);
  delay.acknowledged(ONE, 'v1', 1005);
  publish('v2', 2000);
  delay.acknowledged(TWO, 'v2', 2001);
  delay.acknowledged(ONE, 'v2', 2002);
  assert.deepEqual(applied, ['20 + 10 + 2']);
  assert.deepEqual(unapplied, []);
});

test('who takes a later version is past the earlier ones', () => {
  follow(ONE, TWO);
  publish('v1', 1000);
  delay.acknowledged(ONE, 'v1', 1010);
  publish('v2', 2000);
  delay.acknowledged(ONE, 'v2', 2010);
  assert.deepEqual(applied, []);
  delay.acknowledged(TWO, 'v2', 2500);
  assert.deepEqual(applied, ['20 + 10 + 500', '20 + 10 + 1500']);
});

test('a late acknowledgement of an earlier version counts for that one', () => {
  follow(ONE);
  publish('v1', 1000);
  publish('v2', 2000);
  delay.acknowledged(ONE, 'v1', 2100);
  assert.deepEqual(applied, ['20 + 10 + 1100']);
  delay.acknowledged(ONE, 'v2', 2101);
  assert.deepEqual(applied, ['20 + 10 + 1100', '20 + 10 + 101']);
});

test('content that comes back is waited for anew', () => {
  follow(ONE, TWO);
  publish('a', 1000);
  delay.acknowledged(ONE, 'a', 1010);
  publish('b', 2000);
  publish('a', 3000);
  delay.acknowledged(ONE, 'a', 3010);
  delay.acknowledged(TWO, 'a', 3020);
  assert.deepEqual(applied, ['20 + 10 + 20', '20 + 10 + 1020', '20 + 10 + 2020']);
});

test('what no collection caused is waited for and not told', () => {
  follow(ONE);
  publish('v1', 1000);
  delay.published('v2', undefined, 1500);
  delay.acknowledged(ONE, 'v2', 1600);
  assert.deepEqual(applied, ['20 + 10 + 600']);
});

test('a stream that leaves is waited for no longer: the last of the others counts', () => {
  follow(ONE, TWO, THREE);
  publish('v1', 1000);
  delay.acknowledged(ONE, 'v1', 1010);
  delay.acknowledged(TWO, 'v1', 1020);
  delay.left(THREE);
  assert.deepEqual(applied, ['20 + 10 + 20']);
  assert.deepEqual(unapplied, ['left 1']);
  // that one had all there was
  delay.left(TWO);
  delay.left(THREE);
  assert.deepEqual(unapplied, ['left 1']);
});

test('when all leave nobody has applied it', () => {
  follow(ONE, TWO);
  publish('v1', 1000);
  delay.left(ONE);
  delay.left(TWO);
  publish('v2', 2000);
  assert.deepEqual(applied, []);
  assert.deepEqual(unapplied, ['left 1', 'left 1']);
});

test('who refuses a version has not applied it, and is waited for with the next', () => {
  follow(ONE, TWO);
  publish('v1', 1000);
  delay.acknowledged(ONE, 'v1', 1010);
  delay.rejected(TWO, 'v1');
  delay.rejected(TWO, 'v1');
  delay.rejected(THREE, 'v1');
  assert.deepEqual(applied, ['20 + 10 + 10']);
  assert.deepEqual(unapplied, ['rejected 1']);
  publish('v2', 2000);
  delay.acknowledged(ONE, 'v2', 2010);
  assert.equal(applied.length, 1);
  delay.acknowledged(TWO, 'v2', 2070);
  assert.deepEqual(applied, ['20 + 10 + 10', '20 + 10 + 70']);
});

describe('how many streams follow, and how many have the latest', () => {
  const stands = () => [delay.streams.following, delay.streams.current];

  test('one counts by what it acknowledged, and as none before', () => {
    publish('v1', 1000);
    assert.deepEqual(stands(), [0, 0]);
    delay.acknowledged(ONE, 'v1', 1010);
    delay.acknowledged(TWO, 'v1', 1020);
    assert.deepEqual(stands(), [2, 2]);
    publish('v2', 2000);
    assert.deepEqual(stands(), [2, 0]);
    delay.acknowledged(ONE, 'v2', 2010);
    assert.deepEqual(stands(), [2, 1]);
    delay.left(ONE);
    assert.deepEqual(stands(), [1, 0]);
  });

  test('who refused the latest has what it had, until it takes another', () => {
    follow(ONE, TWO);
    publish('v1', 1000);
    delay.acknowledged(ONE, 'v1', 1010);
    delay.rejected(TWO, 'v1');
    assert.deepEqual(stands(), [2, 1]);
    publish('v2', 2000);
    delay.acknowledged(TWO, 'v2', 2010);
    assert.deepEqual(stands(), [2, 1]);
  });

  test('who refused everything follows nothing', () => {
    publish('v1', 1000);
    delay.rejected(ONE, 'v1');
    assert.deepEqual(stands(), [0, 0]);
  });

  test('a first acknowledgement of an older version is behind', () => {
    publish('v1', 1000);
    publish('v2', 1005);
    delay.acknowledged(ONE, 'v1', 1010);
    assert.deepEqual(stands(), [1, 0]);
    // nobody waits for it, and it counts all the same
    delay.acknowledged(ONE, 'v2', 1020);
    assert.deepEqual(stands(), [1, 1]);
    assert.deepEqual([applied, unapplied], [[], []]);
  });

  test('one that was given up is none, and behind when it answers with an older version', () => {
    follow(ONE, TWO);
    publish('v1', 1000);
    delay.acknowledged(ONE, 'v1', 1010);
    publish('v2', 2000);
    delay.acknowledged(ONE, 'v2', 2010);
    delay.sweep(40_000);
    assert.deepEqual(stands(), [1, 1]);
    delay.acknowledged(TWO, 'v1', 40_010);
    assert.deepEqual(stands(), [2, 1]);
    delay.acknowledged(TWO, 'v2', 40_020);
    assert.deepEqual(stands(), [2, 2]);
  });

  test('content that comes back is with those that never took the other', () => {
    follow(ONE, TWO);
    publish('other', 1000);
    delay.acknowledged(ONE, 'other', 1010);
    publish('first', 2000);
    assert.deepEqual(stands(), [2, 1]);
  });
});

describe('a stream that never answers', () => {
  test('is given up after half a minute, with all that is open, and does not lengthen what the others took', () => {
    follow(ONE, TWO);
    for (let atMs = 1000; atMs <= 32_000; atMs += 1000) {
      publish(`v${atMs}`, atMs);
      delay.acknowledged(ONE, `v${atMs}`, atMs + 10);
      delay.sweep(atMs + 500);
    }
    assert.deepEqual(unapplied, ['timeout 1']);
    assert.deepEqual([applied.length, new Set(applied)], [32, new Set(['20 + 10 + 10'])]);
  });

  test('is waited for again once it has answered', () => {
    follow(ONE, TWO);
    publish('v1', 1000);
    delay.sweep(40_000);
    publish('v2', 41_000);
    delay.acknowledged(ONE, 'v2', 41_010);
    delay.acknowledged(TWO, 'v2', 41_020);
    // neither was waited for
    assert.deepEqual(applied, []);
    assert.deepEqual(unapplied, ['timeout 2']);
    publish('v3', 42_000);
    delay.acknowledged(ONE, 'v3', 42_010);
    delay.acknowledged(TWO, 'v3', 42_060);
    assert.deepEqual(applied, ['20 + 10 + 60']);
  });

  test('is given up earlier when there is more to remember than there is room for', () => {
    follow(ONE, TWO);
    for (let i = 0; i < 1000; i++) {
      publish(`v${i}`, 1000 + i);
      delay.acknowledged(ONE, `v${i}`, 1001 + i);
    }
    assert.deepEqual(unapplied, ['timeout 1']);
    assert.equal(applied.length, 1000);
  });
});

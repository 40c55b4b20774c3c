import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FeedReader, Spread } from '../../../src/xds/spread.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MIB = 1024 * 1024;

/** Readers that are written `bytes` each time, and the order in which they were told. */
function audience(count: number, bytes: number) {
  const told: number[] = [];
  const readers = new Set<FeedReader>();
  for (let index = 0; index < count; index++) {
    readers.add({
      push: () => {
        told.push(index);
        return bytes;
      },
    });
  }
  return { told, readers };
}

test('what fits goes at once', () => {
  const clock = new FakeClock();
  const { told, readers } = audience(4, 32 * MIB - 1);
  new Spread(readers, clock).begin();
  assert.deepEqual(told, [0, 1, 2, 3]);
});

test('what is too much for once goes in slices with time for I/O in between', async () => {
  const clock = new FakeClock();
  const { told, readers } = audience(6, 32 * MIB);
  new Spread(readers, clock).begin();
  assert.deepEqual(told, [0, 1, 2, 3]);
  await clock.advance(0);
  assert.deepEqual(told, [0, 1, 2, 3, 4, 5]);
});

test('what comes in between begins when the last has been told, and is told to all', async () => {
  const clock = new FakeClock();
  const { told, readers } = audience(5, 64 * MIB);
  const spread = new Spread(readers, clock);
  spread.begin();
  spread.begin();
  spread.begin();
  assert.deepEqual(told, [0, 1]);
  await clock.advance(0);
  assert.deepEqual(told, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
});

test('a reader that leaves is not told any more, one that joins is', async () => {
  const clock = new FakeClock();
  const { told, readers } = audience(4, 128 * MIB);
  const [, second] = readers;
  new Spread(readers, clock).begin();
  if (second !== undefined) readers.delete(second);
  readers.add({ push: () => told.push(9) });
  await clock.advance(0);
  assert.deepEqual(told, [0, 2, 3, 9]);
});

test('nobody is told after the stop', async () => {
  const clock = new FakeClock();
  const { told, readers } = audience(3, 128 * MIB);
  const spread = new Spread(readers, clock);
  spread.begin();
  spread.stop();
  await clock.advance(0);
  assert.deepEqual(told, [0]);
});

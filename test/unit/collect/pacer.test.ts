import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Pacer } from '../../../src/collect/pacer.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const items = (count: number, atMs: (index: number) => number) =>
  Array.from({ length: count }, (_, item) => ({ atMs: atMs(item), item }));

const ignore = (): void => undefined;

describe('a pacer', () => {
  test('begins what is due at once a few at a time, and lets others have their turn in between', async () => {
    const clock = new FakeClock();
    let begun = 0;
    const turns: number[] = [];
    const pacer = new Pacer<number>(
      {
        now: () => clock.now(),
        schedule: (milliseconds, callback) => {
          turns.push(begun);
          return clock.schedule(milliseconds, callback);
        },
      },
      () => begun++,
    );
    const ends: number[] = [];
    pacer.start(
      items(100, () => 0),
      () => ends.push(begun),
    );
    assert.equal(begun, 32);
    await clock.advance(0);
    assert.deepEqual(ends, [100]);
    assert.deepEqual(turns, [32, 64, 96]);
    assert.equal(begun, 100);
    assert.equal(clock.pending, 0);
  });

  test('begins each when it is due, or a moment before where that saves waking up', async () => {
    const clock = new FakeClock(1000);
    const begun: string[] = [];
    const pacer = new Pacer<number>(clock, (item) => begun.push(`${item} at ${clock.now()}`));
    pacer.start(items(4, (index) => 1150 - 50 * index).concat(items(1, () => 1160)), ignore);
    await clock.advance(200);
    assert.deepEqual(begun, ['3 at 1000', '2 at 1050', '1 at 1100', '0 at 1150', '0 at 1150']);
  });

  test('does not begin what has been replaced, nor anything once it is stopped', async () => {
    const clock = new FakeClock();
    const begun: number[] = [];
    const pacer = new Pacer<number>(clock, (item) => begun.push(item));
    const ends: string[] = [];
    pacer.start(
      items(2, (index) => 100 * index),
      () => ends.push('first'),
    );
    pacer.start([{ atMs: 50, item: 7 }], () => ends.push('second'));
    await clock.advance(60);
    pacer.start(
      items(2, (index) => 160 + index * 100),
      () => ends.push('third'),
    );
    pacer.stop();
    await clock.advance(1000);
    assert.deepEqual(begun, [0, 7]);
    assert.deepEqual(ends, ['second']);
    assert.equal(clock.pending, 0);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { untilNothingIsRefused } from '../../../src/demo/calm.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** @param shares p in turn, the last one from then on. What comes of it, and the seconds that it took. */
async function wait(shares: readonly (number | undefined)[]): Promise<readonly [p: number, seconds: number]> {
  const clock = new FakeClock();
  let looks = 0;
  const { signal } = new AbortController();
  let isOver = false;
  const over = untilNothingIsRefused({
    clock,
    share: () => Promise.resolve(shares[Math.min(looks++, shares.length - 1)]),
    mostSeconds: 20,
    signal,
  }).finally(() => {
    isOver = true;
  });
  for (let step = 0; step < 1000 && !isOver; step++) await clock.advance(50);
  return [await over, clock.now() / 1000];
}

describe('the kill of the control plane', () => {
  test('waits until nothing has been refused for a second', async () => {
    assert.deepEqual(await wait([0]), [0, 1]);
    const [p, seconds] = await wait([0.08, 0.08, 0.02, 0]);
    assert.equal(p, 0);
    assert.ok(seconds >= 1.75 && seconds < 2, String(seconds));
  });

  test('begins to wait anew when a share is refused again', async () => {
    const [p, seconds] = await wait([0, 0, 0.01, 0]);
    assert.equal(p, 0);
    assert.ok(seconds >= 1.75 && seconds < 2, String(seconds));
  });

  test('does not wait for ever, and says what p is then', async () => {
    const [p, seconds] = await wait([0.08]);
    assert.equal(p, 0.08);
    assert.ok(seconds >= 20 && seconds < 20.5, String(seconds));
    assert.deepEqual((await wait([undefined]))[0], Number.NaN);
  });

  test('is not waited for when it is given up', async () => {
    const given = untilNothingIsRefused({
      clock: new FakeClock(),
      share: () => Promise.resolve(0.5),
      mostSeconds: 20,
      signal: AbortSignal.abort(),
    });
    assert.equal(await given, 0.5);
  });
});

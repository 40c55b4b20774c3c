import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { awayFactor, nextIntegral, overflowGain, overflowOf } from '../../../src/core/overflow.ts';

const times = { elapsedSeconds: 1, intervalSeconds: 1, delaySeconds: 0.1, staySeconds: 8 };
const ratio = fc.double({ min: 0, max: 1, noNaN: true });
const weight = fc.double({ min: 0.01, max: 1000, noNaN: true });

test('of what plain balancing would send elsewhere, the overflow goes there', () => {
  fc.assert(
    fc.property(ratio, weight, weight, (overflow, home, away) => {
      const factor = awayFactor(overflow, home, away, 1);
      const [sent, plain] = [(factor * away) / (home + factor * away), away / (home + away)];
      assert.ok(Math.abs(sent - overflow * plain) < 1e-9);
      assert.ok(factor >= 0 && factor <= 1 + 1e-12);
      // sidecars that even out weights by their own requests need larger differences
      assert.ok(Math.abs(awayFactor(overflow, home, away, 2) - factor ** 2) < 1e-9);
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('with nobody at home, or nobody elsewhere, there is no difference to make', () => {
  assert.deepEqual([awayFactor(0.5, 0, 3, 2), awayFactor(0.5, 3, 0, 2), awayFactor(1, 3, 3, 2)], [1, 1, 1]);
});

test('what is missing at home goes elsewhere whatever the load says, so that all have the same', () => {
  // two zones of four backends, three of one are gone: as many requests for each that is left
  const overflow = overflowOf(0, 1 / 4);
  const sent = overflow * (4 / (1 + 4));
  assert.ok(Math.abs(4 * (1 - sent) - (4 + 4 * sent) / 4) < 1e-12);
  assert.equal(overflowOf(0, 0), 1);
  assert.equal(overflowOf(0, 1), 0.01);
  assert.equal(overflowOf(1, 1), 1);
  assert.equal(overflowOf(-3, 1), 0.01);
  assert.equal(overflowOf(7, 0.5), 1);
});

test('the older the gauges are over a stay, the less a difference moves', () => {
  assert.equal(overflowGain(times), 1);
  assert.ok(Math.abs(overflowGain({ ...times, intervalSeconds: 5 }) - (0.3 * 8) / 5.1) < 1e-12);
  assert.ok(Math.abs(overflowGain({ ...times, staySeconds: 1 }) - 0.3 / 1.1) < 1e-12);
});

test('differences add up within a stay, faster on the way home, and stay within bounds', () => {
  assert.ok(Math.abs(nextIntegral(0.5, 0.3, times) - (0.5 + 0.2 / 8)) < 1e-12);
  assert.ok(Math.abs(nextIntegral(0.5, 0, times) - (0.5 - 0.3 / 8)) < 1e-12);
  assert.equal(nextIntegral(0, -1, times), 0);
  assert.equal(nextIntegral(1, 1, times), 1);
  // a pause of the evaluations is no reason to jump
  assert.equal(
    nextIntegral(0.5, 0.3, { ...times, elapsedSeconds: 1000 }),
    nextIntegral(0.5, 0.3, { ...times, elapsedSeconds: 2 }),
  );
});

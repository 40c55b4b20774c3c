import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { weightsOf } from '../../../src/discovery/dns-weights.ts';

const plain = (...weights: readonly number[]) => weightsOf(weights.map((weight) => [{ weight, among: 1 }]));

test('integers up to 100 stay as they are', () => {
  assert.deepEqual(plain(10, 30, 0, 100), [10, 30, 0, 100]);
  assert.deepEqual(plain(1), [1]);
});

test('larger ones keep their ratio, exactly where integers allow it', () => {
  assert.deepEqual(plain(1000, 3000), [33, 99]);
  assert.deepEqual(plain(65_535, 65_535), [100, 100]);
  assert.deepEqual(plain(150, 100), [99, 66]);
  assert.deepEqual(plain(65_535, 32_768), [100, 50]);
});

test('above 0 stays above 0, and 0 stays 0', () => {
  assert.deepEqual(plain(65_535, 1, 0), [100, 1, 0]);
});

test('all 0 is all equal', () => {
  assert.deepEqual(plain(0, 0, 0), [100, 100, 100]);
});

test('shares of one target are even, and those of one backend add up', () => {
  const [half, whole, both] = [
    { weight: 10, among: 2 },
    { weight: 10, among: 1 },
    { weight: 30, among: 2 },
  ];
  assert.deepEqual(weightsOf([[whole], [half], [half]]), [10, 5, 5]);
  assert.deepEqual(weightsOf([[whole, both], [both]]), [25, 15]);
  assert.deepEqual(weightsOf([[{ weight: 10, among: 3 }], [whole]]), [33, 99]);
  assert.deepEqual(weightsOf([[{ weight: 0, among: 2 }], [{ weight: 0, among: 1 }]]), [50, 100]);
});

test('none is an empty list', () => {
  assert.deepEqual(weightsOf([]), []);
});

test('whatever the shares are: integers 0..100, 0 only for 0, and in the order of the sums', () => {
  const share = fc.record({
    weight: fc.integer({ min: 0, max: 65_535 }),
    among: fc.integer({ min: 1, max: 40 }),
  });
  const totals = fc.array(fc.array(share, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(totals, (lists) => {
      const weights = weightsOf(lists);
      const sums = lists.map((shares) => shares.reduce((sum, { weight, among }) => sum + weight / among, 0));
      const largest = Math.max(...sums);
      for (const [index, sum] of sums.entries()) {
        const weight = weights[index] ?? -1;
        assert.ok(Number.isInteger(weight) && weight >= 0 && weight <= 100, `${weight}`);
        if (largest === 0) continue;
        assert.equal(weight === 0, sum === 0);
        // half a step of the integers, or the floor of 1
        const most = Math.max(...weights);
        assert.ok(
          Math.abs(weight - (sum / largest) * most) <= 1,
          `${weight} of ${most} for ${sum} of ${largest}`,
        );
      }
    }),
    { numRuns: 300 },
  );
});

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { mean, quantile, ratioOf, standardDeviation } from '../../../bench/routing/statistics.ts';

test('quantiles by nearest rank, with infinite values last', () => {
  const values = [4, 1, Number.POSITIVE_INFINITY, 3, 2];
  assert.deepEqual(
    [0, 0.2, 0.21, 0.5, 0.8, 0.81, 1].map((q) => quantile(values, q)),
    [1, 1, 2, 3, 4, Infinity, Infinity],
  );
  assert.ok(Number.isNaN(quantile([], 0.5)));
});

test('mean and deviation of a population', () => {
  assert.equal(mean([2, 4, 4, 4, 5, 5, 7, 9]), 5);
  assert.equal(standardDeviation([2, 4, 4, 4, 5, 5, 7, 9]), 2);
  assert.equal(standardDeviation([3]), 0);
  assert.ok(Number.isNaN(standardDeviation([])));
});

test('nothing against nothing is a draw, something against nothing infinitely worse', () => {
  assert.deepEqual([ratioOf(0, 0), ratioOf(1, 0), ratioOf(0, 2), ratioOf(1, 2)], [1, Infinity, 0, 0.5]);
});

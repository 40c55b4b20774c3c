import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { bootstrap } from '../../../bench/routing/bootstrap.ts';
import { mean, quantile, ratioOf, standardDeviation, sumOf } from '../../../bench/routing/statistics.ts';
import { createRandom } from '../../../../src/demo/random.ts';

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

test('the interval of a mean is the one that theory gives', () => {
  const random = createRandom(1);
  const values = Array.from({ length: 400 }, () => random.normal());
  const { value, low, high } = bootstrap(
    400,
    (times) => sumOf(values.map((one, i) => one * times[i]!)) / 400,
  );
  const half = (1.96 * standardDeviation(values)) / Math.sqrt(400);
  assert.ok(Math.abs(value - mean(values)) < 1e-12);
  assert.ok(Math.abs(low - (value - half)) < 0.15 * half, `${low} against ${value - half}`);
  assert.ok(Math.abs(high - (value + half)) < 0.15 * half, `${high} against ${value + half}`);
});

test('equal blocks give equal intervals, and a constant one without width', () => {
  const figure = (times: readonly number[]): number => sumOf(times.map((time, index) => time * index));
  assert.deepEqual(bootstrap(30, figure), bootstrap(30, figure));
  assert.deepEqual(bootstrap(30, sumOf), { value: 30, low: 30, high: 30 });
});

test('a bound may be infinite, and draws without a figure are left out', () => {
  const infinite = bootstrap(2, ([one]) => (one === 0 ? Number.POSITIVE_INFINITY : one!));
  assert.deepEqual(infinite, { value: 1, low: 1, high: Number.POSITIVE_INFINITY });
  assert.deepEqual(
    bootstrap(2, ([one]) => (one === 0 ? Number.NaN : one!)),
    { value: 1, low: 1, high: 2 },
  );
});

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { createRandom } from '../../../../src/demo/random.ts';
import { bootstrap } from '../../../bench/routing/bootstrap.ts';
import { mean, standardDeviation, sumOf } from '../../../bench/routing/statistics.ts';

test('the interval of a mean is the one that theory gives', () => {
  const random = createRandom(1);
  const values = Array.from({ length: 400 }, () => random.normal());
  assertMean(
    values.map((value) => [value]),
    (1.96 * standardDeviation(values)) / Math.sqrt(400),
  );
});

test('blocks that are alike within their seed tell no more than the seed', () => {
  const random = createRandom(2);
  const seeds = Array.from({ length: 100 }, () => random.normal());
  assertMean(
    seeds.map((seed) => Array.from({ length: 10 }, () => seed + 0.1 * random.normal())),
    (1.96 * standardDeviation(seeds)) / Math.sqrt(100),
  );
});

test('each draw has as many blocks as the seeds it drew, of those alone', () => {
  const draws: (readonly number[])[] = [];
  bootstrap([4, 6], (times) => draws.push(times));
  assert.deepEqual(draws[0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 'the value: each block once');
  const sums = draws.slice(1).map((times) => [sumOf(times.slice(0, 4)), sumOf(times.slice(4))].join());
  assert.deepEqual(new Set(sums), new Set(['8,0', '4,6', '0,12']));
  const both = sums.filter((sum) => sum === '4,6').length;
  assert.ok(Math.abs(both / sums.length - 0.5) < 0.05, `${both}`);
});

test('no interval of one seed, nor of fewer than 10 blocks', () => {
  const figure = (times: readonly number[]): number => times[0]!;
  assert.deepEqual(bootstrap([50], figure), { value: 1 });
  assert.deepEqual(bootstrap([3, 3, 3], figure), { value: 1 });
  assert.notEqual(bootstrap([5, 5], figure).interval, undefined);
});

test('a bound may be infinite, and draws without a figure are left out', () => {
  const infinite = bootstrap([5, 5], ([one]) => (one === 0 ? Number.POSITIVE_INFINITY : 1));
  assert.deepEqual(infinite, { value: 1, interval: { low: 1, high: Number.POSITIVE_INFINITY } });
  const figure = ([one]: readonly number[]): number => (one === 0 ? Number.NaN : 7);
  assert.deepEqual(bootstrap([10, 10], figure), { value: 7, interval: { low: 7, high: 7 } });
  assert.deepEqual(
    bootstrap([10, 10], () => Number.NaN),
    { value: Number.NaN },
  );
});

test('equal blocks give equal intervals', () => {
  const figure = (times: readonly number[]): number => sumOf(times.map((time, index) => time * index));
  assert.deepEqual(bootstrap([10, 10], figure), bootstrap([10, 10], figure));
});

/** Within 15 % of the half width. */
function assertMean(seeds: readonly (readonly number[])[], half: number): void {
  const values = seeds.flat();
  const { value, interval } = bootstrap(
    seeds.map(({ length }) => length),
    (times) => sumOf(values.map((one, index) => one * times[index]!)) / sumOf(times),
  );
  assert.ok(Math.abs(value - mean(values)) < 1e-12);
  const { low, high } = interval!;
  assert.ok(Math.abs(low - (value - half)) < 0.15 * half, `${low} against ${value - half}`);
  assert.ok(Math.abs(high - (value + half)) < 0.15 * half, `${high} against ${value + half}`);
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../../src/demo/random.ts';
import { byWindow, least, leastSquares, middle, type Point } from '../../soak/trend.ts';

test('a line is found as it is', () => {
  const points = Array.from({ length: 10 }, (_, index) => ({
    seconds: 5 * index,
    value: 7 + 0.3 * 5 * index,
  }));
  const line = leastSquares(points);
  assert.ok(line !== undefined);
  assert.ok(Math.abs(line.slope - 0.3) < 1e-12);
  assert.ok(line.standardError < 1e-12);
});

test('there is no line through one time, and no error of one through two points', () => {
  assert.equal(leastSquares([]), undefined);
  assert.equal(leastSquares([{ seconds: 1, value: 2 }]), undefined);
  assert.equal(
    leastSquares([
      { seconds: 1, value: 2 },
      { seconds: 1, value: 3 },
    ]),
    undefined,
  );
  const line = leastSquares([
    { seconds: 1, value: 2 },
    { seconds: 3, value: 8 },
  ]);
  assert.deepEqual(line, { slope: 3, standardError: Number.NaN, points: 2 });
});

test('the error of a slope is what theory gives: two of them hold the truth in most of many cases', () => {
  const random = createRandom(5);
  let held = 0;
  for (let round = 0; round < 400; round++) {
    const points = Array.from({ length: 20 }, (_, index) => ({
      seconds: index,
      value: 2 * index + 10 * random.normal(),
    }));
    const line = leastSquares(points);
    if (line !== undefined && Math.abs(line.slope - 2) < 2 * line.standardError) held++;
  }
  assert.ok(held > 360 && held < 396, `${held} of 400`);
});

test('a saw-tooth on a flat floor has no slope, one on a leak has the slope of the leak', () => {
  const tooth = (leak: number): readonly Point[] =>
    Array.from({ length: 360 }, (_, index) => ({
      seconds: 10 * index,
      value: 50e6 + 20e6 * ((index % 13) / 13) + leak * 10 * index,
    }));
  const slope = (points: readonly Point[]): number =>
    leastSquares(byWindow(points, 300, least))?.slope ?? Number.NaN;
  assert.ok(Math.abs(slope(tooth(0))) * 3600 < 0.3e6);
  assert.ok(Math.abs(slope(tooth(2e6 / 3600)) * 3600 - 2e6) < 0.3e6);
});

test('each window is one point, the last one only when half of it is there', () => {
  const points = [0, 10, 20, 30, 40, 60].map((seconds) => ({ seconds, value: 100 - seconds }));
  assert.deepEqual(byWindow(points, 20, least), [
    { seconds: 5, value: 90 },
    { seconds: 25, value: 70 },
    { seconds: 40, value: 60 },
  ]);
  assert.deepEqual(byWindow([], 20, least), []);
});

test('the middle of an even number of values lies between two', () => {
  assert.equal(middle([9, 1, 5]), 5);
  assert.equal(middle([9, 1, 5, 2]), 3.5);
  assert.ok(Number.isNaN(middle([])));
  assert.ok(Number.isNaN(least([])));
});

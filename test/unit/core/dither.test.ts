import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { integerWeights, type Proposal } from '../../../src/core/dither.ts';
import type { EndpointHealth } from '../../../src/core/model/assignment.ts';
import { backends } from '../../support/fleet.ts';

function proposal(
  weights: readonly number[],
  health: readonly EndpointHealth[] = [],
  dropShare = 0,
): Proposal {
  const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
  return {
    backends: backends(weights.length),
    health: weights.map((_, index) => health[index] ?? 'HEALTHY'),
    weights: Float64Array.from(weights, (weight) => weight / mean),
    dropShare,
    draining: [],
  };
}

const integers = (weights: readonly number[], health?: readonly EndpointHealth[], dropShare?: number) => [
  ...integerWeights(proposal(weights, health, dropShare)),
];

test('equal weights are exactly equal, without dither', () => {
  assert.deepEqual(integers([1, 1, 1]), [100_000, 100_000, 100_000]);
  assert.deepEqual(integers([7, 7 + 1e-7]), [100_000, 100_000]);
  assert.deepEqual(integers([5]), [100_000]);
  assert.deepEqual(integers([]), []);
});

test('unequal weights are shifted by at most a thousandth', () => {
  const weights = [1, 0.5, 2, 1.7, 0.02];
  const mean = 5.22 / 5;
  for (const [index, integer] of integers(weights).entries()) {
    const exact = (100_000 * (weights[index] ?? 0)) / mean;
    assert.ok(Math.abs(integer / exact - 1) <= 0.0011, `${integer} of ${exact}`);
  }
});

test('the bytes are the same on every replica and in every version', () => {
  assert.deepEqual(integers([2, 1]), [133_261, 66_685]);
  assert.deepEqual(integers([1, 0.5, 2], ['HEALTHY', 'UNHEALTHY', 'HEALTHY']), [85_661, 42_849, 171_493]);
});

test('any change of weight, health or membership shifts every weight anew', () => {
  const before = integers([100, 100, 101, 100]);
  const changes = [
    integers([100, 100, 102, 100]),
    integers([100, 100, 101, 100], ['UNHEALTHY']),
    integers([100, 100, 101, 100, 100]),
  ];
  for (const [which, after] of changes.entries()) {
    const same = before.filter((weight, index) => weight === after[index]);
    assert.ok(same.length <= 1, `change ${which}: ${before.join()} and ${after.join()}`);
  }
});

test('every other refused share shifts the weights, the equal ones too, in a group of any size', () => {
  for (let size = 1; size <= 9; size++) {
    const weights = Array.from({ length: size }, () => 1);
    const seen = new Map<string, number>();
    for (let thousandths = 0; thousandths <= 950; thousandths++) {
      const all = integers(weights, [], thousandths / 1000);
      assert.ok(all.every((weight) => Math.abs(weight - 100_000) <= (size === 1 ? 950 : 100)));
      seen.set(all.join(), thousandths);
    }
    assert.ok(seen.size > (size === 2 ? 920 : 950), `${size}: ${seen.size} of 951`);
  }
});

test('the shift has no side: over many backends it is 0 on average, and fills its range', () => {
  const weights = Array.from({ length: 4000 }, (_, index) => (index % 2 === 0 ? 1 : 3));
  const shifts = integers(weights).map(
    (weight, index) => (weight / (index % 2 === 0 ? 50_000 : 150_000) - 1) * 1000,
  );
  const mean = shifts.reduce((sum, shift) => sum + shift, 0) / shifts.length;
  assert.ok(Math.abs(mean) < 0.05, `${mean}`);
  assert.ok(Math.max(...shifts) > 0.98 && Math.min(...shifts) < -0.98);
});

test('the sum stays below 2^32 - 1 and no weight is 0, in the largest group', () => {
  const size = 50_000;
  const weights = integers(Array.from({ length: size }, (_, index) => (index === 0 ? 1e-9 : 1)));
  assert.equal(weights[0], 1);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  assert.ok(sum < 1.01e9);
});

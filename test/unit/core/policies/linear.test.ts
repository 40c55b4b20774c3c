import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { linearFactor } from '../../../../src/core/policies/linear.ts';
import { backend } from '../../../support/decisions.ts';
import { Fleet, one, relative } from '../../../support/fleet.ts';

test('a factor stays between 0.1 and 2', () => {
  const cases: readonly [score: number, mean: number, gain: number, factor: number][] = [
    [0.5, 0.5, 3, 1],
    [0.6, 0.5, 1, 1.2],
    [1, 0, 3, 2],
    [0, 1, 3, 0.1],
  ];
  for (const [score, mean, gain, factor] of cases) {
    assert.ok(Math.abs(linearFactor(score, mean, gain) - factor) < 1e-12);
  }
});

test('by hand: the score against the mean score, twice the gain', () => {
  const decision = new Fleet(2, { policy: 'Linear' }).step([
    { queued: 2, running: 10, kvUtilization: 0.3 },
    { queued: 0, running: 8, kvUtilization: 0.3 },
  ]);
  // spreads: max(4, 10/4) and max(8, 10), of differences 2 and 4 inside
  const worse = 1 - 0.5 * (2 / 4) - 0.2 * (4 / 10);
  assert.equal(decision.gain, 1);
  assert.ok(Math.abs((one(decision, 0).score ?? 0) - 100 * worse) < 1e-9);
  const heavy = 1 + 2 * (worse - (1 + worse) / 2);
  assert.ok(Math.abs(one(decision, 0).relativeWeight - heavy) < 1e-9);
  assert.deepEqual(
    decision.backends.map((of) => [of.deviation, of.capacity]),
    [
      [0, 1],
      [0, 1],
    ],
  );
});

test('equal scores give the configured weights', () => {
  const fleet = new Fleet([backend(1, { weight: 20 }), backend(2, { weight: 80 })], { policy: 'Linear' });
  const decision = fleet.step([{ running: 10 }, { running: 40 }]);
  assert.deepEqual(relative(decision), [0.4, 1.6]);
});

test('missing and frozen backends are weighed without a part in the mean score', () => {
  const fleet = new Fleet(4, { policy: 'Linear' });
  const stuck = { running: 5, kvUtilization: 0.5 };
  const decision = fleet.steps(12, (step) => [
    { queued: 3, running: 20, finished: step },
    { queued: 0, running: 20, finished: step },
    'refused',
    stuck,
  ]);
  const factors = decision.backends.map((of) => of.relativeWeight);
  const apart = (decision.gain * ((one(decision, 1).score ?? 0) - (one(decision, 0).score ?? 0))) / 100;
  assert.ok(apart > 0.1);
  const ratio = (factors[1] ?? 0) / (factors[0] ?? 0);
  assert.ok(Math.abs(ratio - (1 + apart) / (1 - apart)) < 1e-9, 'both lie around their own mean');
  assert.equal(factors[2], factors[0], 'the worst of the two');
  assert.ok((factors[3] ?? 1) <= 0.02);
});

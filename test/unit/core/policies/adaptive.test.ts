import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { adaptiveFactor } from '../../../../src/core/policies/adaptive.ts';
import { backend } from '../../../support/decisions.ts';
import { Fleet, one } from '../../../support/fleet.ts';

test('a factor stays between 0.1 and 1.5', () => {
  const cases: readonly [deviation: number, gain: number, factor: number][] = [
    [0, 3, 1],
    [0.1, 3, 1.3],
    [1, 3, 1.5],
    [-0.1, 3, 0.7],
    [-1, 3, 0.1],
    [-1, 0, 1],
  ];
  for (const [deviation, gain, factor] of cases) {
    assert.ok(Math.abs(adaptiveFactor(deviation, gain) - factor) < 1e-12);
  }
});

test('the deviation by hand: two backends, all three signals', () => {
  const decision = new Fleet(2).step([
    { queued: 4, running: 30, kvUtilization: 0.6 },
    { queued: 0, running: 26, kvUtilization: 0.4 },
  ]);
  // means 2, 30, 0.5; scales 30/16, 30, 0.5
  const expected = 0.5 * (2 / (30 / 16)) + 0.3 * (0.1 / 0.5) + 0.2 * (4 / 30);
  assert.ok(Math.abs(one(decision, 0).deviation + expected) < 1e-9);
  assert.ok(Math.abs(one(decision, 1).deviation - expected) < 1e-9);
});

test('scales have a least value: an idle group does not jump at one request', () => {
  const decision = new Fleet(2).step([{ queued: 1, running: 1, kvUtilization: 0.02 }, {}]);
  const expected = 0.5 * 0.5 + 0.3 * (0.01 / 0.1) + 0.2 * (1 / 8);
  assert.ok(Math.abs(one(decision, 1).deviation - expected) < 1e-9);
});

test('load is compared by configured weight', () => {
  const fleet = new Fleet([backend(1, { weight: 20 }), backend(2, { weight: 80 })]);
  const decision = fleet.step([
    { queued: 1, running: 10, kvUtilization: 0.5 },
    { queued: 4, running: 40, kvUtilization: 0.5 },
  ]);
  for (const of of decision.backends) assert.ok(Math.abs(of.deviation) < 1e-12);
  assert.ok(Math.abs(one(decision, 1).relativeWeight / one(decision, 0).relativeWeight - 4) < 1e-9);
});

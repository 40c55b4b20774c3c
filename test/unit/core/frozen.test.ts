import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isFrozen, isSteady } from '../../../src/core/frozen.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import { type Answer, Fleet, healths, one, sampleOf, uses } from '../../support/fleet.ts';

const STUCK = { queued: 12, running: 40, kvUtilization: 0.8, finished: 100 };
const moving = (step: number) => ({
  queued: 1,
  running: 20 + (step % 3),
  kvUtilization: 0.4,
  finished: 5 * step,
});

test('any of the values ends the stillness', () => {
  const before = sampleOf({ ...STUCK, tokens: 4000 });
  assert.equal(isSteady(undefined, before), false);
  assert.equal(isSteady(before, sampleOf({ ...STUCK, tokens: 4000 })), true);
  for (const name of ['queued', 'running', 'kvUtilization', 'finished', 'tokens'] as const) {
    assert.equal(isSteady(before, sampleOf({ ...STUCK, tokens: 4000, [name]: 99 })), false, name);
    assert.equal(isSteady(before, sampleOf({ ...STUCK, tokens: 4000, [name]: undefined })), false, name);
  }
});

test('how long it takes depends on what the engine shows', () => {
  const idle: Partial<Sample> = { queued: 0, running: 0 };
  const busy: Partial<Sample> = { queued: 0, running: 1, kvUtilization: 0.1 };
  const cases: readonly [Partial<Sample>, seconds: number, saturated: boolean, T: number, frozen: boolean][] =
    [
      [busy, 10, false, 1, true],
      [busy, 9.9, false, 1, false],
      [busy, 50, false, 10, true],
      [busy, 49.9, false, 10, false],
      [idle, 1000, false, 1, false],
      [idle, 10, true, 1, true],
      [{ ...busy, kvUtilization: undefined }, 1000, false, 1, false],
      [{ ...busy, kvUtilization: undefined }, 119, true, 1, false],
      [{ ...busy, kvUtilization: undefined }, 120, true, 1, true],
      [{ ...busy, finished: undefined }, 1000, false, 1, false],
      [{ ...busy, finished: undefined }, 999, true, 50, false],
      [{ ...busy, finished: undefined }, 1000, true, 50, true],
      [{ ...busy, coarse: true }, 1000, false, 1, false],
      [{ ...busy, coarse: true }, 119, true, 1, false],
      [{ ...busy, coarse: true }, 120, true, 1, true],
      [{ ...busy, tokens: 9 }, 10, false, 1, true],
    ];
  for (const [values, seconds, saturated, interval, frozen] of cases) {
    const what = `${JSON.stringify(values)} for ${seconds} s, saturated ${saturated}, T ${interval}`;
    assert.equal(isFrozen(sampleOf(values), seconds * 1000, saturated, interval), frozen, what);
  }
});

test('a frozen backend is HEALTHY with a trickle, out of the means, until a value changes', () => {
  const fleet = new Fleet(4);
  const answers = (stuck: Answer) => (step: number) => [stuck, moving(step), moving(step), moving(step)];
  const before = fleet.steps(10, answers(STUCK));
  assert.equal(one(before, 0).health, 'UNHEALTHY');
  const decision = fleet.step(answers(STUCK)(10));
  const stuck = one(decision, 0);
  assert.deepEqual([stuck.use, stuck.health, stuck.frozen], ['frozen', 'HEALTHY', true]);
  assert.ok(stuck.relativeWeight > 0.015 && stuck.relativeWeight <= 0.02, `${stuck.relativeWeight}`);
  assert.match(stuck.reasons.join(), /gauges stand still for 10 s/);
  assert.match(decision.warnings.join(), /gauges stand still: 10\.0\.3\.1:8000/);
  assert.equal(decision.publish, 'health');
  for (const of of decision.backends.slice(1)) assert.ok(Math.abs(of.deviation) < 1e-12, 'not in the means');

  assert.equal(one(fleet.steps(20, answers(STUCK)), 0).use, 'frozen');
  const awake = one(fleet.step(answers({ ...STUCK, queued: 11, finished: 101 })(31)), 0);
  assert.deepEqual([awake.use, awake.frozen, awake.health], ['fresh', false, 'UNHEALTHY']);
});

test('a frozen backend that was never marked has a trickle too', () => {
  const fleet = new Fleet(2);
  const hung = { running: 3, kvUtilization: 0.1 };
  const decision = fleet.steps(11, (step) => [hung, moving(step)]);
  assert.deepEqual(uses(decision), ['frozen', 'fresh']);
  assert.ok(one(decision, 0).share <= 0.02);
});

test('an idle backend is not frozen, however long it stands still', () => {
  const decision = new Fleet(2).steps(100, (step) => [{}, moving(step)]);
  assert.deepEqual(
    decision.backends.map((of) => of.frozen),
    [false, false],
  );
});

test('a frozen backend that misses a collection stays frozen', () => {
  const fleet = new Fleet(3);
  fleet.steps(12, (step) => [STUCK, moving(step), moving(step)]);
  assert.equal(one(fleet.step(['timeout', moving(13), moving(13)]), 0).use, 'frozen');
  assert.equal(one(fleet.step(['timeout', moving(14), moving(14)]), 0).use, 'frozen');
});

test('a refusal ends the freeze and the mark of before it: no health is pushed without a fresh value', () => {
  const fleet = new Fleet(3);
  const others = (step: number) => [moving(step), moving(step)];
  const before = fleet.steps(12, (step) => [STUCK, ...others(step)]);
  assert.deepEqual([one(before, 0).use, one(before, 0).health], ['frozen', 'HEALTHY']);
  const refused = fleet.step(['refused', ...others(13)]);
  assert.deepEqual([one(refused, 0).use, one(refused, 0).health], ['worst', 'HEALTHY']);
  const back = fleet.step([STUCK, ...others(14)]);
  assert.deepEqual([one(back, 0).use, one(back, 0).health], ['frozen', 'HEALTHY']);
  for (const decision of [refused, back]) assert.notEqual(decision.publish, 'health');
});

test('a refusal of one that is not frozen leaves its mark', () => {
  const fleet = new Fleet(3);
  fleet.step([STUCK, moving(0), moving(0)]);
  assert.equal(one(fleet.step(['refused', moving(1), moving(1)]), 0).health, 'UNHEALTHY');
});

test('all frozen: configured weights, all HEALTHY', () => {
  const fleet = new Fleet(3);
  assert.deepEqual(healths(fleet.steps(10, [STUCK, STUCK, STUCK])), ['UNHEALTHY', 'UNHEALTHY', 'UNHEALTHY']);
  const decision = fleet.step([STUCK, STUCK, STUCK]);
  assert.equal(decision.mode, 'configured');
  assert.equal(decision.gain, 0);
  assert.deepEqual(healths(decision), ['HEALTHY', 'HEALTHY', 'HEALTHY']);
  assert.deepEqual(
    decision.backends.map((of) => of.relativeWeight),
    [1, 1, 1],
  );
  assert.match(decision.warnings.join(), /the gauges of all backends that answer stand still/);
});

test('all that answer are frozen, others have been silent: configured weights for all', () => {
  const fleet = new Fleet(3);
  const decision = fleet.steps(12, (step) => [STUCK, STUCK, step < 9 ? moving(step) : 'timeout']);
  assert.equal(decision.mode, 'configured');
  assert.deepEqual(uses(decision), ['frozen', 'frozen', 'none']);
  assert.deepEqual(
    decision.backends.map((of) => of.relativeWeight),
    [1, 1, 1],
  );
});

test('many frozen ones stay within a fiftieth of the mean each', () => {
  const fleet = new Fleet(8);
  const decision = fleet.steps(12, (step) => [
    ...Array.from({ length: 6 }, () => STUCK),
    moving(step),
    moving(step),
  ]);
  for (const of of decision.backends.slice(0, 6)) assert.ok(of.relativeWeight <= 0.02);
});

test('while a backend is frozen no mark is set or cleared', () => {
  const fleet = new Fleet(2);
  const stuck = { queued: 8, running: 5, kvUtilization: 0.5 };
  assert.equal(
    one(
      fleet.steps(12, (step) => [stuck, moving(step)]),
      0,
    ).use,
    'frozen',
  );
  const saturation = {
    totalQueuedRequests: { mark: 5, clear: 3 },
    kvCacheUtilization: { mark: 0.98 },
    runningRequests: undefined,
    admission: 'None' as const,
  };
  fleet.reload(fleet.servers, { saturation });
  assert.equal(one(fleet.step([stuck, moving(13)]), 0).use, 'frozen');
  assert.equal(one(fleet.step([{ ...stuck, queued: 4 }, moving(14)]), 0).health, 'HEALTHY');
});

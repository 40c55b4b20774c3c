import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backend } from '../../support/decisions.ts';
import { type Answer, backends, Fleet, healths, one, relative, uses } from '../../support/fleet.ts';

/** Load that differs between backends and never stands still. */
const load = (index: number, step: number) => ({
  queued: 0,
  running: 10 + index,
  kvUtilization: 0.1 + index / 100 + (step % 5) / 1000,
  finished: 3 * step,
});

/** Everybody answers at `step`, except those who are told what happens. */
function round(
  count: number,
  step: number,
  exceptions: Readonly<Record<number, Answer>> = {},
): readonly Answer[] {
  return Array.from({ length: count }, (_, index) =>
    index in exceptions ? exceptions[index] : load(index, step),
  );
}

test('everybody answers', () => {
  const decision = new Fleet(3).step(round(3, 0));
  assert.deepEqual(uses(decision), ['fresh', 'fresh', 'fresh']);
  assert.equal(decision.mode, 'balanced');
  assert.deepEqual(decision.warnings, []);
});

test('a first miss: the last sample counts, and counts in the means', () => {
  const fleet = new Fleet(4);
  const heavy = { ...load(0, 0), running: 60 };
  const before = fleet.step(round(4, 0, { 0: heavy }));
  const decision = fleet.step(round(4, 1, { 0: 'timeout' }));
  const missing = one(decision, 0);
  assert.equal(missing.use, 'last');
  assert.equal(missing.missed, 1);
  assert.equal(missing.sampleAgeMs, 1000);
  assert.equal(missing.failure?.kind, 'timeout');
  assert.deepEqual(missing.reasons.slice(0, 1), [
    'timeout, no metrics in 1 collection: its last sample counts',
  ]);
  assert.ok(Math.abs(missing.deviation - one(before, 0).deviation) < 0.01);
});

test('no outcome yet is a miss like a failure, with the failure of before', () => {
  const fleet = new Fleet(4);
  fleet.step(round(4, 0));
  assert.equal(one(fleet.step(round(4, 1, { 0: undefined })), 0).failure, undefined);
  fleet.step(round(4, 2, { 0: 'status' }));
  const still = one(fleet.step(round(4, 3, { 0: undefined })), 0);
  assert.deepEqual([still.missed, still.failure?.kind], [3, 'status']);
  const back = one(fleet.step(round(4, 4)), 0);
  assert.deepEqual([back.missed, back.failure, back.use], [0, undefined, 'fresh']);
});

test('a second miss: the worst of the fresh counts, in no mean', () => {
  const fleet = new Fleet(4);
  fleet.step(round(4, 0));
  fleet.step(round(4, 1, { 0: 'timeout' }));
  const others = {
    1: { queued: 4, running: 5 },
    2: { queued: 0, running: 30 },
    3: { queued: 0, running: 1 },
  };
  const decision = fleet.step(round(4, 2, { 0: 'timeout', ...others }));
  const missing = one(decision, 0);
  assert.equal(missing.use, 'worst');
  assert.match(
    missing.reasons[0] ?? '',
    /timeout, no metrics in 2 collections: the worst of the others counts/,
  );
  assert.ok(
    missing.deviation < Math.min(...decision.backends.slice(1).map((of) => of.deviation)),
    'worst in each',
  );
  assert.equal(missing.health, 'HEALTHY');
  const mean = decision.backends.slice(1).reduce((sum, of) => sum + of.deviation, 0);
  assert.ok(Math.abs(mean) < 1e-9, 'the deviations of those that answer are around their own mean');
});

test('connection refused counts as the worst from the first miss on, without limit of age', () => {
  const fleet = new Fleet(4);
  fleet.step(round(4, 0));
  for (let step = 1; step < 60; step++) {
    const decision = fleet.step(round(4, step, { 3: 'refused' }));
    assert.equal(one(decision, 3).use, 'worst');
    assert.equal(one(decision, 3).health, 'HEALTHY');
  }
});

test('the first evaluation after a refusal already treats the lightest backend like the heaviest', () => {
  const fleet = new Fleet(4);
  const light = { queued: 0, running: 1, kvUtilization: 0.01 };
  const heavy = { 3: { queued: 5, running: 40, kvUtilization: 0.9 } };
  assert.ok(one(fleet.step(round(4, 0, { 0: light, ...heavy })), 0).deviation > 0);
  const decision = fleet.step(round(4, 1, { 0: 'refused', ...heavy }));
  const refused = one(decision, 0);
  assert.deepEqual([refused.missed, refused.use], [1, 'worst']);
  assert.equal(refused.deviation, one(decision, 3).deviation);
  assert.ok(refused.relativeWeight <= 0.2, `${refused.relativeWeight}`);
});

test('a backend that refuses and was never sampled counts as the worst, one that times out as the mean', () => {
  const fleet = new Fleet(4);
  const decision = fleet.step(round(4, 0, { 0: 'refused', 1: 'timeout' }));
  assert.deepEqual(uses(decision), ['worst', 'mean', 'fresh', 'fresh']);
  assert.equal(one(decision, 1).deviation, 0);
  assert.match(one(decision, 1).reasons.join(), /the mean counts, as it has never given any/);
});

test('a frozen backend that refuses is no longer frozen, until it answers with the same values', () => {
  const fleet = new Fleet(3);
  const stuck = { running: 5, kvUtilization: 0.3 };
  fleet.steps(12, (step) => round(3, step, { 0: stuck }));
  const refused = one(fleet.step(round(3, 13, { 0: 'refused' })), 0);
  assert.deepEqual([refused.use, refused.frozen], ['worst', false]);
  assert.equal(one(fleet.step(round(3, 14, { 0: stuck })), 0).use, 'frozen');
});

test('more than a quarter miss two collections or more: none is to blame, the means count', () => {
  const cases: readonly [count: number, missing: number, use: string][] = [
    [4, 1, 'worst'],
    [4, 2, 'mean'],
    [8, 2, 'worst'],
    [8, 3, 'mean'],
    [3, 1, 'worst'],
    [2, 1, 'worst'],
  ];
  for (const [count, missing, use] of cases) {
    const fleet = new Fleet(count);
    fleet.step(round(count, 0));
    const silent = Object.fromEntries(
      Array.from({ length: missing }, (_, index) => [index, 'timeout' as const]),
    );
    fleet.step(round(count, 1, silent));
    const decision = fleet.step(round(count, 2, silent));
    assert.equal(one(decision, 0).use, use, `${missing} of ${count}`);
    assert.equal(decision.warnings.length, use === 'mean' ? 1 : 0);
  }
});

test('half of the collections fail: everybody stays in, healthy', () => {
  const fleet = new Fleet(8);
  for (let step = 0; step < 100; step++) {
    const silent: Record<number, Answer> = {};
    for (let index = 0; index < 8; index++) {
      if ((index * 7 + step * 13 + ((index * step) % 5)) % 2 === 0) silent[index] = 'timeout';
    }
    const decision = fleet.step(round(8, step, silent));
    assert.deepEqual(new Set(healths(decision)), new Set(['HEALTHY']));
    assert.equal(decision.assignment.endpoints.length, 8);
  }
});

test('too old to say anything after 30 s or 5 intervals: the means count', () => {
  for (const [intervalSeconds, last] of [
    [1, 30],
    [10, 5],
  ] as const) {
    const fleet = new Fleet(8, { intervalSeconds });
    fleet.step(round(8, 0));
    for (let step = 1; step <= last + 1; step++) {
      const use = step === 1 ? 'last' : step <= last ? 'worst' : 'mean';
      assert.equal(
        one(fleet.step(round(8, step, { 0: 'timeout' })), 0).use,
        use,
        `T ${intervalSeconds}, ${step}`,
      );
    }
  }
});

test('nobody answers: what is published stands for 30 s, then configured weights, all healthy', () => {
  const fleet = new Fleet(3);
  const first = fleet.step(round(3, 0, { 0: { queued: 5, running: 60 } }));
  assert.notDeepEqual(relative(first), [1, 1, 1]);
  const silence: readonly Answer[] = ['timeout', 'refused', undefined];
  for (let second = 1; second <= 30; second++) {
    const decision = fleet.step(silence);
    assert.equal(decision.mode, 'kept');
    assert.equal(decision.publish, undefined);
    assert.equal(decision.assignment, first.assignment);
    assert.deepEqual(relative(decision), relative(first));
    assert.equal(decision.collectionStartedAtMs, undefined);
    assert.deepEqual(decision.warnings, ['no backend gives metrics: what is published stands for 30 s']);
  }
  const blind = fleet.step(silence);
  assert.equal(blind.mode, 'configured');
  assert.equal(blind.gain, 0);
  assert.deepEqual(relative(blind), [1, 1, 1]);
  assert.deepEqual(uses(blind), ['none', 'none', 'none']);
  assert.equal(blind.publish, 'shares');
  assert.deepEqual(blind.warnings, ['no backend gives metrics: configured weights, all healthy']);
});

test('at an interval of 10 s what is published stands for 50 s', () => {
  const fleet = new Fleet(2, { intervalSeconds: 10 });
  fleet.step(round(2, 0));
  assert.equal(fleet.steps(5, ['timeout', 'timeout']).mode, 'kept');
  assert.equal(fleet.step(['timeout', 'timeout']).mode, 'configured');
});

test('nobody has ever answered: configured weights from the start', () => {
  const fleet = new Fleet([backend(1, { weight: 50 }), backend(2)]);
  const decision = fleet.step(['timeout', 'refused']);
  assert.equal(decision.mode, 'configured');
  assert.equal(decision.publish, 'first');
  assert.deepEqual(relative(decision), [0.67, 1.33]);
  assert.equal(fleet.steps(40, ['timeout', 'refused']).publish, undefined);
});

test('an answer ends the silence at once', () => {
  const fleet = new Fleet(3);
  fleet.step(round(3, 0));
  fleet.steps(40, ['timeout', 'timeout', 'timeout']);
  const decision = fleet.step(round(3, 1, { 1: 'timeout', 2: 'timeout' }));
  assert.equal(decision.mode, 'balanced');
  assert.deepEqual(uses(decision), ['fresh', 'mean', 'mean']);
});

test('backends change while nobody answers: the others keep their weights, the new one begins small', () => {
  const fleet = new Fleet(3);
  const first = fleet.step(round(3, 0, { 0: { running: 60 } }));
  fleet.reload([backend(1), backend(2), backend(4)]);
  const decision = fleet.step(['timeout', 'timeout', 'timeout']);
  assert.equal(decision.mode, 'kept');
  assert.equal(decision.publish, 'membership');
  const ratio = (of: GroupDecision) => one(of, 0).relativeWeight / one(of, 1).relativeWeight;
  assert.ok(Math.abs(ratio(decision) - ratio(first)) < 1e-9);
  const mean = (one(decision, 0).relativeWeight + one(decision, 1).relativeWeight) / 2;
  assert.ok(Math.abs(one(decision, 2).relativeWeight / mean - 0.1) < 1e-9);
});

test('another configured weight counts even while nobody answers', () => {
  const fleet = new Fleet(2);
  fleet.step(round(2, 0, { 0: load(0, 0), 1: load(0, 0) }));
  fleet.reload([backend(1, { weight: 50 }), backend(2)]);
  const decision = fleet.step(['timeout', 'timeout']);
  assert.equal(decision.mode, 'kept');
  assert.equal(decision.publish, 'configuration');
  assert.deepEqual(relative(decision), [0.67, 1.33]);
});

test('all backends are replaced while nobody answers: configured weights', () => {
  const fleet = new Fleet(2);
  fleet.step(round(2, 0));
  fleet.reload([backend(8), backend(9)]);
  assert.equal(fleet.step(['timeout', 'timeout']).mode, 'configured');
});

test('OnCollectFailure Remove: out from the first miss, back with the first answer', () => {
  const fleet = new Fleet(3, { onCollectFailure: 'Remove' });
  fleet.step(round(3, 0));
  const decision = fleet.step(round(3, 1, { 1: 'timeout' }));
  const removed = one(decision, 1);
  assert.deepEqual(
    [removed.use, removed.health, removed.weight, removed.share],
    ['removed', undefined, 0, 0],
  );
  assert.equal(removed.relativeWeight, 0);
  assert.equal(removed.score, undefined);
  assert.equal(decision.publish, 'membership');
  assert.deepEqual(
    decision.assignment.endpoints.map((endpoint) => endpoint.address),
    ['10.0.3.1', '10.0.3.3'],
  );
  assert.deepEqual(removed.reasons, [
    'timeout, no metrics in 1 collection: out of the assignment until it answers',
  ]);
  const back = fleet.step(round(3, 2));
  assert.deepEqual([one(back, 1).use, one(back, 1).slowStart], ['fresh', undefined]);
  assert.equal(back.assignment.endpoints.length, 3);
});

test('OnCollectFailure Remove, nobody answers: configured weights at once, all healthy', () => {
  const fleet = new Fleet(2, { onCollectFailure: 'Remove' });
  fleet.step([{ queued: 20 }, { queued: 1 }]);
  const decision = fleet.step(['timeout', 'refused']);
  assert.equal(decision.mode, 'configured');
  assert.deepEqual(healths(decision), ['HEALTHY', 'HEALTHY']);
  assert.deepEqual(relative(decision), [1, 1]);
});

test('weight 0: polled and shown, in no mean and not in the assignment', () => {
  const fleet = new Fleet([...backends(2), backend(3, { weight: 0 })]);
  const decision = fleet.step([load(0, 0), load(0, 0), { queued: 500, running: 500 }]);
  assert.deepEqual(uses(decision), ['fresh', 'fresh', 'aside']);
  assert.deepEqual(relative(decision), [1, 1, 0]);
  const aside = one(decision, 2);
  assert.deepEqual([aside.health, aside.weight, aside.saturated], [undefined, 0, false]);
  assert.equal(aside.sample?.queued, 500);
  assert.deepEqual(aside.reasons, ['configured weight 0: takes no traffic']);
});

test('weight 0 answers and nobody else does: the group is blind all the same', () => {
  const fleet = new Fleet([backend(1), backend(2, { weight: 0 })]);
  assert.equal(fleet.step(['timeout', { running: 1 }]).mode, 'configured');
});

test('all weights 0, or no backend: an empty assignment, and it is said', () => {
  for (const servers of [[], [backend(1, { weight: 0 })]]) {
    const fleet = new Fleet(servers);
    const decision = fleet.step(servers.map(() => ({ running: 1 })));
    assert.deepEqual(decision.assignment.endpoints, []);
    assert.equal(decision.publish, 'first');
    assert.deepEqual(decision.warnings, [
      servers.length === 0
        ? 'there is no backend: the assignment is empty, sidecars answer 503'
        : 'no backend with a weight above 0: the assignment is empty',
    ]);
    assert.equal(fleet.step(servers.map(() => ({ running: 1 }))).publish, undefined);
  }
});

test('all weights but one 0: the one gets everything', () => {
  const fleet = new Fleet([backend(1, { weight: 0 }), backend(2), backend(3, { weight: 0 })]);
  const decision = fleet.step([{ running: 1 }, { queued: 5, running: 90 }, { running: 1 }]);
  assert.deepEqual(
    decision.backends.map((of) => of.share),
    [0, 1, 0],
  );
});

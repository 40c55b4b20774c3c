import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backend } from '../../support/decisions.ts';
import { type Answer, Fleet, healths, one, relative, PROPORTIONAL } from '../../support/fleet.ts';

const FLEET = [backend(1), backend(2), backend(3, { weight: 50 })];

/** A step's answers: the same load each time, by engines at work. */
function unequal(step: number): readonly Answer[] {
  return [
    { running: 20, kvUtilization: 0.2, finished: 20 * step },
    { running: 20, queued: 3, kvUtilization: 0.8, finished: 20 * step },
    { running: 10, kvUtilization: 0.2, finished: 10 * step },
  ];
}

function published({ assignment }: GroupDecision) {
  const [first, ...others] = assignment.endpoints.map(({ weight }) => weight);
  return {
    weights: [1, ...others.map((weight) => weight / (first ?? 1))],
    healths: assignment.endpoints.map(({ health }) => health),
    dropShare: assignment.dropShare,
  };
}

const CONFIGURED = { weights: [1, 1, 0.5], healths: ['HEALTHY', 'HEALTHY', 'HEALTHY'], dropShare: 0 };

function near(decision: GroupDecision): void {
  const { weights, ...rest } = published(decision);
  assert.deepEqual({ ...rest, weights: weights.map((weight) => Math.round(weight * 100) / 100) }, CONFIGURED);
}

test('configured weights go out once, and what would go out is told', () => {
  const fleet = new Fleet(FLEET, { mode: 'Observe' });
  const first = fleet.step(unequal(0));
  assert.equal(first.publish, 'first');
  near(first);
  for (let step = 1; step < 60; step++) {
    const decision = fleet.step(unequal(step));
    assert.equal(decision.publish, undefined);
    assert.equal(decision.assignment, first.assignment);
    assert.ok(decision.observing);
    const [light = 0, heavy = 0] = relative(decision);
    assert.ok(light > 1.3 * heavy, relative(decision).join(', '));
    assert.equal(one(decision, 0).weight, decision.computed.endpoints[0]?.weight);
    assert.ok(one(decision, 0).share > 0.45);
  }
});

test('what adds up over time stands still: weights after a quarter of an hour are those of the first minutes', () => {
  const observed = new Fleet(FLEET, { mode: 'Observe' });
  const early = observed.steps(300, unequal);
  const late = observed.steps(900, (step) => unequal(300 + step));
  assert.deepEqual(relative(late), relative(early));
  for (const of of late.backends) assert.equal(of.basis.residual, 1);

  const active = new Fleet(FLEET);
  active.steps(300, unequal);
  const run = active.steps(900, (step) => unequal(300 + step));
  assert.ok(one(run, 1).basis.residual < 0.7, 'the test would see it');
});

test('marks and a refused share are told and not published, and warnings do not say that sidecars do', () => {
  const fleet = new Fleet(FLEET, { mode: 'Observe', saturation: PROPORTIONAL });
  const queues = (step: number): readonly Answer[] =>
    [3, 3, 3].map((queued) => ({ queued, running: 8, finished: 2 * step }));
  const overloaded = fleet.steps(600, queues);
  near(overloaded);
  assert.equal(overloaded.admission.kind, 'shedding');
  const share = overloaded.computed.dropShare;
  assert.ok(share > 0.1 && share < 0.9, `the first answer to the queue, not wound up: ${share}`);
  assert.ok(
    overloaded.warnings.includes(
      'overload: with Mode: Active sidecars would refuse a share of the requests with 503',
    ),
  );

  const marked = new Fleet(FLEET, { mode: 'Observe' });
  const saturated = marked.steps(5, (step) => [0, 1, 2].map(() => ({ queued: 99, finished: step })));
  near(saturated);
  assert.deepEqual(healths(saturated), ['UNHEALTHY', 'UNHEALTHY', 'UNHEALTHY']);
  assert.deepEqual(saturated.warnings, [
    'every backend is saturated: with Mode: Active sidecars would answer 503',
  ]);
});

test('a change of Mode takes effect at the next evaluation, and keeps what is learned', () => {
  const fleet = new Fleet(FLEET);
  const active = fleet.steps(200, unequal);
  const learned = one(active, 1).basis.residual;
  assert.ok(learned < 0.95);

  fleet.reload(FLEET, { mode: 'Observe' });
  const observed = fleet.step(unequal(200));
  assert.equal(observed.publish, 'shares');
  near(observed);
  assert.equal(one(observed, 1).basis.residual, learned);
  const later = fleet.steps(50, (step) => unequal(201 + step));
  assert.equal(one(later, 1).basis.residual, learned);

  fleet.reload(FLEET);
  const again = fleet.step(unequal(251));
  assert.equal(again.publish, 'shares');
  assert.equal(again.assignment, again.computed);
  assert.equal(one(again, 1).basis.residual, learned);
  assert.ok(one(fleet.step(unequal(252)), 1).basis.residual < learned, 'it learns on');
});

test('exactly the configured weights, however near the ones before were', () => {
  const fleet = new Fleet(FLEET);
  const near_ = (step: number): readonly Answer[] =>
    [20, 21, 10].map((running) => ({ running, finished: 10 * step }));
  const active = fleet.steps(3, near_);
  assert.notDeepEqual(published(active).weights, CONFIGURED.weights);
  fleet.reload(FLEET, { mode: 'Observe' });
  const observed = fleet.step(near_(3));
  assert.equal(observed.publish, 'configuration');
  near(observed);
});

test('nobody answers: configured weights stand, also for a backend that is removed', () => {
  const fleet = new Fleet(FLEET, { mode: 'Observe', onCollectFailure: 'Remove' });
  fleet.steps(3, unequal);
  const one_ = fleet.step([...unequal(3).slice(0, 2), 'refused']);
  near(one_);
  assert.equal(one_.computed.endpoints.length, 2);
  near(fleet.steps(40, ['refused', 'refused', 'refused']));
});

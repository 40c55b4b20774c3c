import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { backend } from '../../support/decisions.ts';
import { Fleet, healths, one, relative, uses } from '../../support/fleet.ts';

const idle = (step: number) => ({
  running: 4 + (step % 2),
  kvUtilization: 0.1 + step / 1000,
  finished: step,
});

describe('a backend whose engine sleeps', () => {
  test('is out of the assignment, in no mean, and says so', () => {
    const fleet = new Fleet(3);
    fleet.steps(3, (step) => [idle(step), idle(step), { ...idle(step), running: 400 }]);
    const decision = fleet.step([idle(3), idle(3), 'asleep']);
    assert.deepEqual(uses(decision), ['fresh', 'fresh', 'asleep']);
    assert.deepEqual(healths(decision), ['HEALTHY', 'HEALTHY', undefined]);
    assert.deepEqual(relative(decision), [1, 1, 0]);
    assert.equal(decision.publish, 'membership');
    assert.deepEqual(
      decision.assignment.endpoints.map(({ address }) => address),
      ['10.0.3.1', '10.0.3.2'],
    );
    assert.equal(decision.basis.signals.find(({ name }) => name === 'RunningRequests')?.mean, 5);
    assert.deepEqual(one(decision, 2).reasons, ['asleep: out of the assignment until it wakes']);
    assert.deepEqual(decision.warnings, ['asleep: 10.0.3.3:8000']);
  });

  test('counts for nothing in the shares of the others', () => {
    const fleet = new Fleet([backend(1), backend(2, { weight: 50 }), backend(3, { weight: 50 })]);
    const decision = fleet.steps(2, (step) => [
      idle(step),
      { ...idle(step), running: 2 + (step % 2) / 2 },
      'asleep',
    ]);
    assert.equal(one(decision, 0).basis.configuredShare, 4 / 3);
    assert.equal(one(decision, 1).basis.configuredShare, 2 / 3);
    assert.equal(one(decision, 2).basis.configuredShare, 0);
  });

  test('comes back in slow start when it wakes', () => {
    const fleet = new Fleet(3);
    fleet.steps(3, (step) => [idle(step), idle(step), 'asleep']);
    const decision = fleet.step([idle(3), idle(3), { running: 0 }]);
    assert.equal(decision.publish, 'membership');
    assert.equal(one(decision, 2).health, 'HEALTHY');
    assert.equal(one(decision, 2).slowStart, 0.1);
    const later = fleet.steps(30, (step) => [idle(4 + step), idle(4 + step), idle(4 + step)]);
    assert.equal(one(later, 2).slowStart, undefined);
  });

  test('wakes without the mark and the standstill of before', () => {
    const fleet = new Fleet(2);
    fleet.steps(2, (step) => [idle(step), { queued: 40, running: 8, finished: 7 }]);
    assert.equal(one(fleet.step([idle(2), 'asleep']), 1).saturated, false);
    assert.deepEqual(healths(fleet.step([idle(3), { queued: 0, running: 0, finished: 7 }])), [
      'HEALTHY',
      'HEALTHY',
    ]);
  });

  test('wakes with gauges that have not moved: a trickle until they do', () => {
    const stuck = { queued: 40, running: 8, kvUtilization: 0.5, finished: 7 };
    const fleet = new Fleet(2);
    fleet.steps(3, (step) => [idle(step), stuck]);
    fleet.steps(20, (step) => [idle(3 + step), 'asleep']);
    assert.deepEqual(uses(fleet.step([idle(23), stuck])), ['fresh', 'frozen']);
  });

  test('stays out while it does not answer, but not for ever', () => {
    const fleet = new Fleet(2);
    fleet.step([idle(0), 'asleep']);
    const soon = fleet.steps(20, (step) => [idle(1 + step), 'timeout']);
    assert.deepEqual(uses(soon), ['fresh', 'asleep']);
    assert.match(one(soon, 1).reasons.join(), /^asleep: .*, and timeout, 20 collections missed$/);
    const late = fleet.steps(20, (step) => [idle(21 + step), 'timeout']);
    assert.deepEqual(uses(late), ['fresh', 'mean']);
    assert.deepEqual(healths(late), ['HEALTHY', 'HEALTHY']);
  });

  test('of configured weight 0 is aside', () => {
    assert.deepEqual(uses(new Fleet([backend(1, { weight: 0 }), backend(2)]).step(['asleep', {}])), [
      'aside',
      'fresh',
    ]);
  });
});

describe('a group in which all sleep', () => {
  test('has an empty assignment: they say themselves that they serve nothing', () => {
    const fleet = new Fleet(2);
    fleet.steps(2, (step) => [idle(step), idle(step)]);
    const decision = fleet.step(['asleep', 'asleep']);
    assert.deepEqual(decision.assignment.endpoints, []);
    assert.deepEqual(decision.warnings, [
      'every backend is asleep: the assignment is empty, sidecars answer 503',
      'asleep: 10.0.3.1:8000, 10.0.3.2:8000',
    ]);
    const woken = fleet.step(['asleep', {}]);
    assert.deepEqual(healths(woken), [undefined, 'HEALTHY']);
    assert.equal(one(woken, 1).share, 1);
  });

  test('is as any other that nobody answers from when that has lasted', () => {
    const fleet = new Fleet(2);
    fleet.step(['asleep', 'asleep']);
    const decision = fleet.steps(40, ['timeout', 'timeout']);
    assert.deepEqual(healths(decision), ['HEALTHY', 'HEALTHY']);
    assert.deepEqual(relative(decision), [1, 1]);
  });

  test('but for one that does not answer keeps that one', () => {
    const fleet = new Fleet(3);
    fleet.steps(2, (step) => [idle(step), idle(step), idle(step)]);
    const decision = fleet.step(['asleep', 'asleep', 'timeout']);
    assert.deepEqual(healths(decision), [undefined, undefined, 'HEALTHY']);
    assert.equal(decision.mode, 'kept');
  });
});

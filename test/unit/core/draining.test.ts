import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluatePlain } from '../../../src/core/evaluate.ts';
import type { Backend } from '../../../src/core/model/backend.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { serverGroup } from '../../support/configuration.ts';
import { backend } from '../../support/decisions.ts';
import { backends, Fleet, healths, one, relative, uses } from '../../support/fleet.ts';

const busy = (step: number) => ({
  running: 4 + (step % 2),
  kvUtilization: 0.1 + step / 1000,
  finished: 2 * step,
});
const heavy = (step: number) => ({ ...busy(step), running: 40 + (step % 2), queued: 2 });

/** The backends by their last numbers; with a minus in front those that drain. */
function list(...numbers: readonly number[]): readonly Backend[] {
  return numbers.map((n) => (n < 0 ? { ...backend(-n), draining: true } : backend(n)));
}

function weights(decision: GroupDecision): readonly number[] {
  return decision.assignment.endpoints.map(({ weight }) => weight);
}

describe('a backend that drains', () => {
  test('is published DRAINING with its last weight, polled, in no mean, and takes nothing', () => {
    const fleet = new Fleet(3);
    const before = fleet.steps(5, (step) => [busy(step), busy(step), heavy(step)]);
    fleet.reload(list(1, 2, -3));
    const decision = fleet.step([busy(5), busy(5), heavy(5)]);
    assert.deepEqual(uses(decision), ['fresh', 'fresh', 'draining']);
    assert.deepEqual(healths(decision), ['HEALTHY', 'HEALTHY', 'DRAINING']);
    assert.equal(weights(decision)[2], weights(before)[2]);
    assert.equal(one(decision, 2).weight, weights(before)[2]);
    assert.deepEqual(relative(decision), [1, 1, 0]);
    assert.deepEqual([one(decision, 2).share, one(decision, 0).share], [0, 0.5]);
    assert.equal(decision.publish, 'membership');
    assert.equal(one(decision, 2).sample?.queued, 2);
    assert.equal(decision.basis.signals.find(({ name }) => name === 'RunningRequests')?.mean, 5);
    assert.equal(one(decision, 0).basis.configuredShare, 1);
    assert.deepEqual(one(decision, 2).reasons, ['draining: it ends what it has begun, and gets nothing new']);
    assert.equal(fleet.step([busy(6), busy(6), heavy(6)]).publish, undefined);
  });

  test('keeps its weight while the others move', () => {
    const fleet = new Fleet(3);
    fleet.steps(5, (step) => [busy(step), busy(step), busy(step)]);
    fleet.reload(list(1, 2, -3));
    const began = fleet.step([busy(5), busy(5), busy(5)]);
    const later = fleet.steps(5, (step) => [heavy(6 + step), busy(6 + step), busy(6 + step)]);
    assert.notEqual(weights(later)[0], weights(began)[0]);
    assert.equal(weights(later)[2], weights(began)[2]);
  });

  test('is out when it is gone, and the order of the endpoints is by address all the while', () => {
    const fleet = new Fleet(list(3, 1, 2));
    fleet.steps(2, (step) => [busy(step), busy(step), busy(step)]);
    fleet.reload(list(3, -1, 2));
    const draining = fleet.step([busy(2), busy(2), busy(2)]);
    assert.deepEqual(
      draining.assignment.endpoints.map(({ address, health }) => [address, health]),
      [
        ['10.0.3.1', 'DRAINING'],
        ['10.0.3.2', 'HEALTHY'],
        ['10.0.3.3', 'HEALTHY'],
      ],
    );
    assert.deepEqual(healths(draining), ['HEALTHY', 'DRAINING', 'HEALTHY'], 'as the group lists them');
    fleet.reload(list(3, 2));
    const gone = fleet.step([busy(3), busy(3)]);
    assert.deepEqual([gone.publish, gone.assignment.endpoints.length], ['membership', 2]);
  });

  test('that failed before, or is saturated, is neither', () => {
    const fleet = new Fleet(3);
    fleet.steps(3, (step) => [busy(step), busy(step), { ...busy(step), queued: 50 }]);
    fleet.reload(list(1, 2, -3));
    const decision = fleet.step([busy(3), busy(3), 'refused']);
    assert.deepEqual([one(decision, 2).health, one(decision, 2).saturated], ['DRAINING', false]);
    assert.match(one(decision, 2).reasons.join(), /^draining: .*; refused, no metrics in 1 collection$/);
  });

  test('of configured weight 0, or asleep, is not published', () => {
    const fleet = new Fleet([backend(1), backend(2, { weight: 0 }), backend(3)]);
    fleet.steps(2, (step) => [busy(step), busy(step), 'asleep']);
    fleet.reload([backend(1), backend(2, { weight: 0, draining: true }), backend(3, { draining: true })]);
    const decision = fleet.step([busy(2), busy(2), 'asleep']);
    assert.deepEqual(healths(decision), ['HEALTHY', undefined, undefined]);
    assert.deepEqual(uses(decision), ['fresh', 'aside', 'asleep']);
  });

  test('from its first evaluation on has the weight that it is configured for', () => {
    const fleet = new Fleet([backend(1), backend(2, { weight: 50, draining: true })]);
    const decision = fleet.step([busy(0), busy(0)]);
    assert.deepEqual(weights(decision), [100_000, 50_000]);
    assert.deepEqual(healths(decision), ['HEALTHY', 'DRAINING']);
  });

  test('counts for nothing when all others are saturated: 503', () => {
    const fleet = new Fleet(2);
    fleet.steps(3, (step) => [{ ...busy(step), queued: 50 }, busy(step)]);
    fleet.reload(list(1, -2));
    const decision = fleet.step([{ ...busy(3), queued: 50 }, busy(3)]);
    assert.deepEqual(healths(decision), ['UNHEALTHY', 'DRAINING']);
  });
});

describe('when all drain', () => {
  test('that is published, not the configured weights', () => {
    const fleet = new Fleet(2);
    fleet.steps(3, (step) => [busy(step), busy(step)]);
    fleet.reload(list(-1, -2));
    const decision = fleet.step([busy(3), busy(3)]);
    assert.deepEqual(healths(decision), ['DRAINING', 'DRAINING']);
    assert.deepEqual(decision.warnings, ['every backend is draining or asleep: sidecars answer 503']);
    assert.equal(fleet.steps(40, ['timeout', 'timeout']).publish, undefined);
    fleet.reload([]);
    const none = fleet.step([]);
    assert.deepEqual(none.assignment.endpoints, []);
    assert.deepEqual(none.warnings, ['there is no backend: the assignment is empty, sidecars answer 503']);
  });

  test('one that joins then takes all', () => {
    const fleet = new Fleet(2);
    fleet.steps(3, (step) => [busy(step), busy(step)]);
    fleet.reload(list(-1, -2, 3));
    const decision = fleet.step([busy(3), busy(3), busy(3)]);
    assert.deepEqual(healths(decision), ['DRAINING', 'DRAINING', 'HEALTHY']);
    assert.equal(one(decision, 2).share, 1);
  });
});

describe('in a group that is only observed, or follows no load', () => {
  test('observed: DRAINING beside the configured weights', () => {
    const fleet = new Fleet(3, { mode: 'Observe' });
    fleet.steps(3, (step) => [busy(step), heavy(step), busy(step)]);
    fleet.reload(list(1, 2, -3));
    const decision = fleet.step([busy(3), heavy(3), busy(3)]);
    const health = ({ health: of }: { readonly health: string }): string => of;
    assert.deepEqual(decision.assignment.endpoints.map(health), ['HEALTHY', 'HEALTHY', 'DRAINING']);
    assert.deepEqual(decision.computed.endpoints.map(health), ['HEALTHY', 'HEALTHY', 'DRAINING']);
    assert.equal(weights(decision)[0], weights(decision)[1]);
  });

  test('plain: with the weight that it is configured for', () => {
    const servers = [backend(1), backend(2, { weight: 50, draining: true }), backend(3)];
    const decision = evaluatePlain(serverGroup('llama', { servers }), 0);
    assert.deepEqual(weights(decision), [100_000, 50_000, 100_000]);
    assert.deepEqual(uses(decision), ['none', 'draining', 'none']);
    assert.deepEqual(healths(decision), ['HEALTHY', 'DRAINING', 'HEALTHY']);
    const all = evaluatePlain(serverGroup('llama', { servers: list(-1, -2) }), 0);
    assert.deepEqual(healths(all), ['DRAINING', 'DRAINING']);
  });
});

describe('a backend that comes back', () => {
  /** Learns that the second of three copes with less; the last step of it is at 60 s. */
  function learned(): Fleet {
    const fleet = new Fleet(3);
    fleet.steps(60, (step) => [busy(step), heavy(step), busy(step)]);
    return fleet;
  }

  const answers = (step: number) => [busy(step), heavy(step), busy(step)];

  for (const how of ['drains and does not any more', 'drains, goes and comes', 'goes and comes'] as const) {
    test(`within a minute is the one that it was: ${how}`, () => {
      const fleet = learned();
      const capacity = one(fleet.step(answers(60)), 1).capacity;
      assert.ok(capacity < 0.95, `${capacity}`);
      if (how !== 'goes and comes') {
        fleet.reload(list(1, -2, 3));
        fleet.steps(20, (step) => answers(61 + step));
      }
      if (how !== 'drains and does not any more') {
        fleet.reload(list(1, 3));
        fleet.steps(20, (step) => [busy(81 + step), busy(81 + step)]);
      }
      fleet.reload(backends(3));
      const back = one(fleet.step(answers(101)), 1);
      assert.equal(back.slowStart, undefined);
      assert.ok(back.capacity < 0.97, `${back.capacity}`);
      assert.equal(back.health, 'HEALTHY');
    });
  }

  test('after more than a minute it joins anew, in slow start', () => {
    const fleet = learned();
    fleet.reload(list(1, 3));
    fleet.steps(61, (step) => [busy(61 + step), busy(61 + step)]);
    fleet.reload(backends(3));
    const back = one(fleet.step(answers(122)), 1);
    assert.deepEqual([back.slowStart, back.capacity > 0.9], [0.1, true]);
  });

  test('after more than a minute of draining it joins anew, whether it was gone or not', () => {
    for (const isGone of [false, true]) {
      const fleet = learned();
      fleet.reload(list(1, -2, 3));
      fleet.steps(isGone ? 50 : 61, (step) => answers(61 + step));
      if (isGone) {
        fleet.reload(list(1, 3));
        fleet.steps(11, (step) => [busy(111 + step), busy(111 + step)]);
      }
      fleet.reload(backends(3));
      assert.equal(one(fleet.step(answers(122)), 1).slowStart, 0.1);
    }
  });

  test('one that joined a moment before it left is still in slow start', () => {
    const fleet = new Fleet(2);
    fleet.steps(3, (step) => [busy(step), busy(step)]);
    fleet.reload(backends(3));
    fleet.steps(5, (step) => answers(3 + step));
    fleet.reload(backends(2));
    fleet.steps(5, (step) => [busy(8 + step), busy(8 + step)]);
    fleet.reload(backends(3));
    const { slowStart } = one(fleet.step(answers(13)), 2);
    assert.ok(slowStart !== undefined && slowStart > 0.3 && slowStart < 0.4, String(slowStart));
  });
});

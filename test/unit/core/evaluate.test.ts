import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { evaluate, initialState } from '../../../src/core/evaluate.ts';
import { backend } from '../../support/decisions.ts';
import { backends, Fleet, loadAwareGroup, one, outcomeOf, relative } from '../../support/fleet.ts';

test('the whole decision of a first evaluation', () => {
  const decision = new Fleet([backend(2), backend(1)]).step([
    { queued: 4, running: 30, kvUtilization: 0.6 },
    { queued: 0, running: 26, kvUtilization: 0.4 },
  ]);
  const { backends: decided, assignment, computed, basis, ...group } = decision;
  assert.deepEqual(group, {
    serverGroup: 'llama',
    atMs: 1_001_000,
    collectionStartedAtMs: 1_000_950,
    mode: 'balanced',
    gain: 1.875,
    staySeconds: 8,
    delaySeconds: 0.1,
    admission: { kind: 'disabled' },
    observing: false,
    publish: 'first',
    warnings: [],
  });
  assert.equal(computed, assignment);
  assert.deepEqual(
    decided.map((of) => [of.backend.id, of.use, of.health, of.missed, of.sampleAgeMs, of.slowStart]),
    [
      ['10.0.3.2:8000', 'fresh', 'HEALTHY', 0, 0, undefined],
      ['10.0.3.1:8000', 'fresh', 'HEALTHY', 0, 0, undefined],
    ],
  );
  assert.deepEqual(basis.signals, [
    { name: 'TotalQueuedRequests', part: 0.5, mean: 2, scale: 1.875, least: 0, spread: 7.5 },
    { name: 'KVCacheUtilization', part: 0.3, mean: 0.5, scale: 0.5, least: 0.4, spread: 0.5 },
    { name: 'RunningRequests', part: 0.2, mean: 30, scale: 30, least: 26, spread: 30 },
  ]);
  const { policy, scale, gain, loadFactorBounds: bounds } = basis;
  assert.deepEqual(
    [policy, scale, gain?.meanInside, gain?.limit, bounds],
    ['Adaptive', 100_000, 30, 1.875, { least: 0.1, most: 1.5 }],
  );
  const [heavy, light] = [one(decision, 0), one(decision, 1)];
  // the lighter one is at the ceiling, the heavier one at the floor; both have learned for one second
  const learned = Math.exp((0.5 * (2 / 1.875) + 0.3 * 0.2 + 0.2 * (4 / 30)) / 120);
  assert.ok(Math.abs(light.relativeWeight / heavy.relativeWeight - 15 * learned ** 2) < 1e-9);
  assert.deepEqual(light.reasons, ['lighter than the mean: weight × 1.5']);
  assert.deepEqual(heavy.reasons, ['heavier than the mean: weight × 0.1']);
  assert.equal(light.score, 100);
  assert.ok(Math.abs(light.share + heavy.share - 1) < 1e-12);
  assert.deepEqual(
    assignment.endpoints.map(({ address, weight }) => [address, weight]),
    [
      ['10.0.3.1', light.weight],
      ['10.0.3.2', heavy.weight],
    ],
  );
});

test('the state that goes in is not touched: the same input gives the same decision again', () => {
  const group = loadAwareGroup(backends(3));
  const input = (second: number) => ({
    group,
    nowMs: 1000 * second,
    run: {
      startedAtMs: 1000 * second - 40,
      endedAtMs: 1000 * second,
      outcomes: new Map(
        group.servers.flatMap(({ id }, index) => {
          const outcome = outcomeOf({ running: 10 * index, finished: second * index }, 1000 * second);
          return outcome === undefined ? [] : [[id, outcome] as const];
        }),
      ),
    },
    delaySeconds: 0.1,
  });
  let state = initialState();
  for (let second = 1; second < 20; second++) ({ state } = evaluate(state, input(second)));
  const once = evaluate(state, input(20));
  const twice = evaluate(state, input(20));
  assert.deepEqual(twice.decision, once.decision);
  assert.deepEqual(twice.state, once.state);
});

test('a group without a load-aware extension is evaluated plainly and keeps no state', () => {
  const group = { ...loadAwareGroup(backends(2)), loadAware: undefined };
  const run = { startedAtMs: 0, endedAtMs: 10, outcomes: new Map() };
  const { state, decision } = evaluate(initialState(), { group, nowMs: 10, run, delaySeconds: 0.1 });
  assert.deepEqual(state, initialState());
  assert.equal(decision.mode, 'configured');
  assert.equal(decision.publish, 'first');
});

test('groups of 1, 2 and 3 idle backends: equal weights, published once', () => {
  for (const count of [1, 2, 3]) {
    const fleet = new Fleet(count);
    const answers = backends(count).map(() => ({}));
    const decision = fleet.step(answers);
    assert.deepEqual(
      decision.backends.map((of) => of.weight),
      answers.map(() => 100_000),
    );
    assert.equal(fleet.steps(30, answers).publish, undefined);
  }
});

test('a single backend gets everything under any load', () => {
  const decision = new Fleet(1).step([{ queued: 9, running: 100, kvUtilization: 0.99 }]);
  assert.equal(one(decision, 0).relativeWeight, 1);
  assert.equal(one(decision, 0).deviation, 0);
});

test('configured weights hold among equally loaded backends, within the dither', () => {
  const fleet = new Fleet([backend(1, { weight: 100 }), backend(2, { weight: 50 })]);
  const decision = fleet.step([
    { running: 20, kvUtilization: 0.5 },
    { running: 10, kvUtilization: 0.5 },
  ]);
  assert.deepEqual(relative(decision), [1.33, 0.67]);
  assert.ok(Math.abs(one(decision, 0).weight / one(decision, 1).weight - 2) < 0.005);
});

test('a collection that nobody answered causes nothing, so that no delay is measured from it', () => {
  const fleet = new Fleet(2);
  assert.equal(fleet.step(['timeout', 'timeout']).collectionStartedAtMs, undefined);
  assert.equal(fleet.step([{}, 'timeout']).collectionStartedAtMs, fleet.nowMs - 50);
});

test('membership changes are published and the others keep what they learned', () => {
  const fleet = new Fleet(3);
  fleet.steps(30, (step) => [{ running: 10, finished: step }, { running: 30, finished: step }, {}]);
  fleet.reload(backends(2));
  const decision = fleet.step([{ running: 10 }, { running: 30 }]);
  assert.equal(decision.publish, 'membership');
  assert.equal(decision.assignment.endpoints.length, 2);
  assert.ok(one(decision, 0).capacity > one(decision, 1).capacity);
});

test('an engine that restarts with counters at 0 is nothing special', () => {
  const fleet = new Fleet(2);
  const work = (step: number) => ({ running: 20 + (step % 3), finished: 5 * step });
  const before = fleet.steps(60, (step) => [work(step), work(step)]);
  const decision = fleet.step([{ running: 1, finished: 0 }, work(60)]);
  assert.ok(Math.abs(decision.staySeconds - before.staySeconds) < 0.2);
  assert.ok(one(decision, 0).relativeWeight > 1);
});

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { limitNewcomers, slowStartLimit } from '../../../src/core/slow-start.ts';
import { backend } from '../../support/decisions.ts';
import { backends, Fleet, one } from '../../support/fleet.ts';

test('a tenth at first, everything after 30 s', () => {
  const cases: readonly [seconds: number, limit: number | undefined][] = [
    [0, 0.1],
    [3, 0.1],
    [15, 0.5],
    [27, 0.9],
    [30, undefined],
  ];
  for (const [seconds, limit] of cases) assert.equal(slowStartLimit(5_000, 5_000 + 1000 * seconds), limit);
  assert.equal(slowStartLimit(undefined, 5_000), undefined);
});

test('the measure is what others get per configured weight', () => {
  const weights = Float64Array.from([1, 4, 2, 0.1]);
  const shares = Float64Array.from([1, 2, 0.5, 0.5]);
  limitNewcomers(
    weights,
    shares,
    (index) => (index >= 2 ? 0.1 : undefined),
    () => false,
  );
  assert.deepEqual([...weights], [1, 4, 0.5 * 1.5 * 0.1, 0.5 * 1.5 * 0.1]);
});

test('frozen backends and those out of the assignment set no measure', () => {
  const weights = Float64Array.from([1, 100, 0, 1]);
  const shares = Float64Array.from([1, 1, 1, 1]);
  limitNewcomers(
    weights,
    shares,
    (index) => (index === 3 ? 0.5 : undefined),
    (index) => index === 1,
  );
  assert.deepEqual([...weights], [1, 100, 0, 0.5]);
});

test('a limit does not raise a weight', () => {
  const weights = Float64Array.from([1, 0.05]);
  limitNewcomers(
    weights,
    Float64Array.from([1, 1]),
    (index) => (index === 1 ? 0.5 : undefined),
    () => false,
  );
  assert.deepEqual([...weights], [1, 0.05]);
});

const work = (count: number) => (step: number) =>
  Array.from({ length: count }, () => ({ running: 5 + (step % 2), kvUtilization: 0.1, finished: step }));

test('nobody is in slow start when the process or a group begins', () => {
  const decision = new Fleet(3).step(work(3)(0));
  assert.deepEqual(
    decision.backends.map((of) => [of.slowStart, of.relativeWeight]),
    [
      [undefined, 1],
      [undefined, 1],
      [undefined, 1],
    ],
  );
});

test('one that joins a living group begins with a tenth and rises', () => {
  const fleet = new Fleet(2);
  fleet.step(work(2)(0));
  fleet.reload(backends(3));
  const joined = fleet.step(work(3)(1));
  assert.equal(joined.publish, 'membership');
  assert.equal(one(joined, 2).slowStart, 0.1);
  const ratio = () => one(decision, 2).relativeWeight / one(decision, 0).relativeWeight;
  let decision = joined;
  assert.ok(Math.abs(ratio() - 0.1) < 1e-9);
  assert.match(
    one(decision, 2).reasons.join(),
    /slow start, joined 0 s ago: at most 0\.1 of the mean weight/,
  );
  decision = fleet.steps(15, work(3));
  assert.ok(Math.abs(ratio() - 0.5) < 0.01, `${ratio()}`);
  decision = fleet.steps(15, work(3));
  assert.ok(Math.abs(ratio() - 1) < 0.01, `${ratio()}`);
  assert.equal(one(decision, 2).slowStart, undefined);
});

test('when all are new none is limited', () => {
  const fleet = new Fleet(2);
  fleet.step(work(2)(0));
  fleet.reload([backend(8), backend(9)]);
  const decision = fleet.step(work(2)(1));
  assert.deepEqual(
    decision.backends.map((of) => of.relativeWeight),
    [1, 1],
  );
});

test('one that leaves and comes back after more than a minute has joined again', () => {
  const fleet = new Fleet(3);
  fleet.steps(40, work(3));
  fleet.reload(backends(2));
  fleet.steps(61, work(2));
  fleet.reload(backends(3));
  assert.equal(one(fleet.step(work(3)(1)), 2).slowStart, 0.1);
});

test('weight 0 lifted by a reload is no joining', () => {
  const fleet = new Fleet([backend(1), backend(2, { weight: 0 })]);
  fleet.step(work(2)(0));
  fleet.reload(backends(2));
  assert.equal(one(fleet.step(work(2)(1)), 1).slowStart, undefined);
});

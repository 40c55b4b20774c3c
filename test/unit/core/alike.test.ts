import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backend } from '../../support/decisions.ts';
import { type Answer, backends, Fleet, type FleetOptions, relative } from '../../support/fleet.ts';

/** Samples are older than the 8 s that requests are taken to stay before any has finished. */
const OLD: FleetOptions = { envoyLbPolicy: 'LeastRequest', intervalSeconds: 15 };
const LOADS: readonly Partial<Sample>[] = [36, 31, 27, 26].map((running) => ({
  running,
  kvUtilization: 0.4,
}));
const EQUAL = 'what is known of the load is older than a request stays: all weights are equal';

function isEqual(decision: GroupDecision): boolean {
  const weights = new Set(decision.backends.filter(({ weight }) => weight > 0).map(({ weight }) => weight));
  assert.equal(
    decision.basis.alike,
    decision.backends.some(({ reasons }) => reasons.includes(EQUAL)),
  );
  if (decision.basis.alike) assert.equal(weights.size, 1);
  return weights.size === 1;
}

test('where samples are older than requests stay, all weights are exactly equal', () => {
  const decision = new Fleet(4, OLD).step(LOADS);
  assert.deepEqual(relative(decision), [1, 1, 1, 1]);
  assert.ok(isEqual(decision) && decision.basis.alike);
  for (const { reasons } of decision.backends) assert.deepEqual(reasons, [EQUAL]);
  assert.ok(decision.backends.some(({ deviation }) => deviation !== 0));
});

test('one that takes no traffic is of no account', () => {
  const servers = [...backends(4), backend(9, { weight: 0 })];
  assert.ok(isEqual(new Fleet(servers, OLD).step([...LOADS, { running: 0 }])));
});

const exceptions: readonly [what: string, options: FleetOptions, answers?: readonly Answer[]][] = [
  ['a newer sample', { ...OLD, intervalSeconds: 1 }],
  ['Linear', { ...OLD, policy: 'Linear' }],
  ['RoundRobin, which takes no two', { ...OLD, envoyLbPolicy: 'RoundRobin' }],
  [
    'few requests, of which sidecars know most',
    OLD,
    LOADS.map(({ running = 0 }) => ({ running: running / 2 })),
  ],
  ['a backend that is above its mark', OLD, [{ queued: 12, running: 36 }, ...LOADS.slice(1)]],
  ['a backend that says nothing', OLD, ['timeout', ...LOADS.slice(1)]],
];
for (const [what, options, answers = LOADS] of exceptions) {
  test(`not so with ${what}`, () => {
    assert.equal(isEqual(new Fleet(4, options).step(answers)), false);
  });
}

test('not so with configured weights that differ', () => {
  const servers = [...backends(3), backend(4, { weight: 200 })];
  assert.equal(new Fleet(servers, OLD).step(LOADS).basis.alike, false);
});

test('nor with one that joins, until its slow start is over', () => {
  const fleet = new Fleet(3, OLD);
  assert.ok(isEqual(fleet.step(LOADS.slice(0, 3))));
  fleet.reload(backends(4));
  const answers = (step: number): readonly Answer[] => LOADS.map((of) => ({ ...of, finished: step }));
  assert.equal(isEqual(fleet.step(answers(1))), false);
  assert.ok(isEqual(fleet.steps(3, answers)));
});

test('nor with stays of less than 2 s, whatever the age', () => {
  const fleet = new Fleet(4, OLD);
  // 30 run all the time, and 300 end in an interval: each stays for 1.5 s
  const decision = fleet.steps(20, (step) => LOADS.map((of) => ({ ...of, finished: 300 * step })));
  assert.ok(decision.basis.gain !== undefined && decision.basis.gain.staySeconds < 2);
  assert.equal(isEqual(decision), false);
});

test('nor with a backend that has been found to be slower', () => {
  const fleet = new Fleet(4, OLD);
  const rates = [30, 60, 60, 60];
  const decision = fleet.steps(30, (step) =>
    rates.map((rate, i) => ({ running: 30 + (step % 2) + i, finished: rate * step })),
  );
  const [slow] = decision.backends;
  assert.ok(slow !== undefined && slow.capacity < Math.exp(-0.2));
  assert.equal(isEqual(decision), false);
});

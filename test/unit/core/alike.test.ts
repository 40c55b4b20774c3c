import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areAlikeForAllThatIsKnown } from '../../../src/core/alike.ts';
import { gainBasis } from '../../../src/core/gain.ts';
import { newMemory } from '../../../src/core/memory.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { rosterOf } from '../../../src/core/roster.ts';
import { backend } from '../../support/decisions.ts';
import {
  type Answer,
  backends,
  Fleet,
  type FleetOptions,
  PROPORTIONAL,
  relative,
} from '../../support/fleet.ts';

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

test('what sidecars have is made equal, however near it was', () => {
  const fleet = new Fleet(4, OLD);
  const few = fleet.step([8, 8, 8, 9].map((running) => ({ running, kvUtilization: 0.1 })));
  assert.equal(isEqual(few), false);
  const many = fleet.step([30, 30, 30, 31].map((running) => ({ running, kvUtilization: 0.1 })));
  assert.ok(isEqual(many) && many.basis.alike);
  assert.deepEqual(new Set(many.assignment.endpoints.map(({ weight }) => weight)).size, 1);
  assert.equal(many.publish, 'shares');
  assert.equal(
    fleet.step([31, 30, 30, 30].map((running) => ({ running, kvUtilization: 0.1 }))).publish,
    undefined,
  );
});

test('not while a share is refused, which shifts weights against each other', () => {
  const fleet = new Fleet(4, { ...OLD, saturation: PROPORTIONAL });
  const queue = (step: number): readonly Answer[] =>
    [8, 9, 8, 8].map((queued) => ({ queued, running: 30, finished: 60 * step }));
  const decisions = Array.from({ length: 6 }, (_, step) => fleet.step(queue(step)));
  const refusing = decisions.findIndex(({ assignment }) => assignment.dropShare > 0);
  assert.ok(refusing >= 0);
  for (const { basis } of decisions.slice(refusing + 1)) assert.equal(basis.alike, false);
});

test('one that sleeps is not told that its weight is equal', () => {
  const [first, , , last] = new Fleet(4, OLD).step([...LOADS.slice(0, 3), 'asleep']).backends;
  assert.ok(first?.reasons.includes(EQUAL) === true && last?.reasons.includes(EQUAL) === false);
});

test('a capacity that equal weights bring about does not end them: they would come and go', () => {
  const roster = rosterOf(backends(2), undefined);
  const basis = gainBasis({
    meanInside: 30,
    intervalSeconds: 15,
    delaySeconds: 0.1,
    lagSeconds: 0,
    staySeconds: 8,
    envoyLbPolicy: 'LeastRequest',
  });
  const alike = (logarithm: number, wereEqual: boolean): boolean => {
    const products = Float64Array.of(Math.exp(logarithm), Math.exp(-logarithm));
    return areAlikeForAllThatIsKnown({
      basis,
      envoyLbPolicy: 'LeastRequest',
      prefersZones: false,
      roster,
      memories: roster.backends.map(() => newMemory(undefined)),
      freshness: { kind: 'seen', uses: ['fresh', 'fresh'], widespread: false },
      capacities: {
        products,
        residuals: products,
        speeds: { values: Float64Array.of(1, 1), compared: Float64Array.of(1, 1), basis: undefined },
      },
      trusts: Float64Array.of(1, 1),
      nowMs: 0,
      wereEqual,
      refuses: false,
    });
  };
  assert.deepEqual(
    [alike(0.08, false), alike(0.15, false), alike(0.15, true), alike(0.25, true)],
    [true, false, true, false],
  );
});

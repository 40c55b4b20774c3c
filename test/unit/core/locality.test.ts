import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Assignment } from '../../../src/core/model/assignment.ts';
import type { Backend } from '../../../src/core/model/backend.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import type { ZoneDecision } from '../../../src/core/model/zones.ts';
import { backend } from '../../support/decisions.ts';
import { type Answer, Fleet, type FleetOptions } from '../../support/fleet.ts';
import { random } from '../../support/random.ts';

const PREFER: FleetOptions = { locality: 'Prefer' };

/** So many backends in each zone: zone a has the first ones. */
function inZones(counts: Readonly<Record<string, number>>): readonly Backend[] {
  const zones = Object.entries(counts).flatMap(([zone, count]) => Array.from({ length: count }, () => zone));
  return zones.map((zone, i) => backend(i + 1, zone === 'none' ? {} : { zone }));
}

function zoneOf(decision: GroupDecision, name: string): ZoneDecision {
  const found = decision.zones?.find(({ zone }) => zone === name);
  if (found === undefined) throw new Error(`no zone ${name} in the decision`);
  return found;
}

/** The part of the requests that goes to backends of a zone by an assignment. */
function shareIn({ endpoints }: Assignment, zone: string): number {
  const healthy = endpoints.filter(({ health }) => health === 'HEALTHY');
  const sum = (of: typeof healthy): number => of.reduce((total, { weight }) => total + weight, 0);
  return sum(healthy.filter((of) => of.zone === zone)) / sum(healthy);
}

const running =
  (counts: readonly number[]) =>
  (step: number): readonly Answer[] =>
    counts.map((count) => ({ running: count, kvUtilization: count / 40, finished: step * count }));

test('at equal load a zone keeps 99 of 100 requests; whoever is in none of them balances over all', () => {
  const decision = new Fleet(inZones({ a: 2, b: 2 }), PREFER).steps(20, running([8, 8, 8, 8]));
  for (const zone of ['a', 'b']) {
    assert.ok(shareIn(zoneOf(decision, zone).assignment, zone) > 0.99);
    assert.ok(Math.abs(zoneOf(decision, zone).homeShare - 0.995) < 1e-9);
  }
  assert.equal(shareIn(decision.assignment, 'a'), 0.5);
});

test('within the own zone, and among the others, weights are those of the group', () => {
  const fleet = new Fleet(inZones({ a: 3, b: 3 }), PREFER);
  const decision = fleet.steps(3, running([8, 10, 12, 9, 9, 8]));
  const everybody = decision.assignment.endpoints;
  const { factor, assignment } = zoneOf(decision, 'a');
  const ratios = assignment.endpoints.map(({ weight }, i) => weight / (everybody[i]?.weight ?? 0));
  const [home = 0] = ratios;
  for (const [i, ratio] of ratios.entries()) {
    const wanted = i < 3 ? home : factor * home;
    assert.ok(Math.abs(ratio / wanted - 1) < 0.02, ratios.join(' '));
  }
});

test('a busier zone sends a part elsewhere, and others nothing to it', () => {
  const decision = new Fleet(inZones({ a: 2, b: 2 }), PREFER).steps(40, running([20, 20, 8, 8]));
  assert.ok(zoneOf(decision, 'a').homeShare < 0.8);
  assert.ok(zoneOf(decision, 'b').homeShare > 0.99);
  assert.ok((zoneOf(decision, 'a').excess ?? 0) > 0.15);
});

test('one backend that is far off is its own affair, not its zone', () => {
  const decision = new Fleet(inZones({ a: 10, b: 10 }), PREFER).steps(
    20,
    running([60, ...Array.from({ length: 19 }, () => 8)]),
  );
  assert.ok(zoneOf(decision, 'a').homeShare > 0.95);
});

test('a zone of which nobody answers, or all are saturated, uses all alike; the others keep to themselves', () => {
  const dead = new Fleet(inZones({ a: 2, b: 2 }), PREFER);
  dead.steps(5, running([8, 8, 8, 8]));
  const answers = (step: number): readonly Answer[] => ['refused', 'refused', ...running([8, 8])(step + 5)];
  const decision = dead.steps(1, answers);
  assert.equal(zoneOf(decision, 'a').factor, 1);
  assert.equal(zoneOf(decision, 'a').excess, undefined);
  assert.ok(zoneOf(decision, 'b').homeShare > 0.99);

  const full = new Fleet(inZones({ a: 2, b: 2 }), PREFER).steps(3, (step) =>
    [0, 1, 2, 3].map((i) => ({ running: 8, kvUtilization: 0.3, finished: 9 * step, queued: i < 2 ? 40 : 0 })),
  );
  assert.equal(zoneOf(full, 'a').homeShare, 0);
  assert.equal(shareIn(zoneOf(full, 'a').assignment, 'b'), 1);
});

test('what a zone lacks for the moment goes elsewhere: those that are new, asleep or do not answer', () => {
  const fleet = new Fleet(inZones({ a: 4, b: 4 }), PREFER);
  fleet.steps(5, running([8, 8, 8, 8, 8, 8, 8, 8]));
  const later = (step: number): readonly Answer[] => [
    'asleep',
    'refused',
    ...running([8, 8, 8, 8, 8, 8])(step + 5),
  ];
  const { available, overflow } = zoneOf(fleet.steps(1, later), 'a');
  assert.equal(available, 0.5);
  assert.ok(overflow >= 0.5);

  const joined = new Fleet(inZones({ b: 2 }), PREFER);
  joined.steps(5, running([8, 8]));
  joined.reload([...inZones({ b: 2 }), backend(3, { zone: 'a' })]);
  const first = zoneOf(
    joined.steps(1, (step) => running([8, 8, 8])(step + 5)),
    'a',
  );
  assert.ok(first.overflow > 0.85, `${first.overflow}`);
});

test('what drains is no part of its zone any more: the others keep its requests while they can', () => {
  const backends = inZones({ a: 4, b: 4 });
  const fleet = new Fleet(backends, PREFER);
  fleet.steps(5, running([8, 8, 8, 8, 8, 8, 8, 8]));
  fleet.reload(backends.map((of, index) => (index === 0 ? { ...of, draining: true } : of)));
  const decision = fleet.steps(1, (step) => running([8, 8, 8, 8, 8, 8, 8, 8])(step + 5));
  const { available, overflow } = zoneOf(decision, 'a');
  assert.equal(available, 1);
  assert.ok(overflow < 0.1, `${overflow}`);
});

test('while a share is refused no zone counts: nothing is refused that another zone has room for', () => {
  const fleet = new Fleet(inZones({ a: 2, b: 2 }), {
    ...PREFER,
    saturation: {
      totalQueuedRequests: { mark: 1000, clear: 3 },
      kvCacheUtilization: { mark: 1 },
      runningRequests: undefined,
      admission: 'Proportional',
    },
  });
  const decision = fleet.steps(20, (step) =>
    [60, 60, 40, 40].map((queued) => ({ queued, running: 8, kvUtilization: 0.5, finished: 2 * step })),
  );
  assert.ok(decision.assignment.dropShare > 0);
  for (const zone of ['a', 'b']) {
    const { factor, plain, assignment } = zoneOf(decision, zone);
    assert.deepEqual([factor, plain], [1, true]);
    assert.equal(assignment.dropShare, decision.assignment.dropShare);
  }
});

test('without metrics: first what was published stands, then all zones alike', () => {
  const fleet = new Fleet(inZones({ a: 2, b: 2 }), PREFER);
  const seen = fleet.steps(10, running([20, 20, 8, 8]));
  const kept = fleet.steps(3, ['timeout', 'timeout', 'timeout', 'timeout']);
  assert.equal(kept.mode, 'kept');
  assert.equal(zoneOf(kept, 'a').overflow, zoneOf(seen, 'a').overflow);
  assert.equal(kept.publish, undefined);
  const blind = fleet.steps(40, ['timeout', 'timeout', 'timeout', 'timeout']);
  assert.equal(blind.mode, 'configured');
  assert.equal(zoneOf(blind, 'a').factor, 1);
});

test('all are told together: what is published follows from the weights of one evaluation', () => {
  const fleet = new Fleet(inZones({ a: 2, b: 2, c: 8 }), PREFER);
  const others = Array.from({ length: 10 }, () => 8);
  const before = fleet.steps(20, running([8, 8, ...others]));
  const still = fleet.steps(1, (step) => running([8, 8, ...others])(step + 20));
  assert.equal(still.publish, undefined);
  assert.equal(still.assignment, before.assignment);
  assert.equal(zoneOf(still, 'a').assignment, zoneOf(before, 'a').assignment);
  const after = fleet.steps(1, (step) => running([13, 13, ...others])(step + 21));
  assert.equal(after.publish, 'shares');
  for (const { factor, assignment } of after.zones ?? []) {
    for (const [i, { basis, backend: of }] of after.backends.entries()) {
      const { weight } = assignment.endpoints.find(({ address }) => address === of.address) ?? { weight: 0 };
      const [first] = after.backends;
      const reference = assignment.endpoints.find(({ address }) => address === first?.backend.address);
      const zone = assignment === zoneOf(after, of.zone ?? '').assignment;
      const firstZone = assignment === zoneOf(after, first?.backend.zone ?? '').assignment;
      const wanted =
        ((basis.weight * (zone ? 1 : factor)) / ((first?.basis.weight ?? 0) * (firstZone ? 1 : factor))) *
        (reference?.weight ?? 0);
      assert.ok(Math.abs(weight - wanted) <= 0.003 * wanted + 1, `backend ${i}: ${weight} for ${wanted}`);
    }
  }
});

test('zones that are told apart no more are reason enough to publish', () => {
  const fleet = new Fleet(inZones({ a: 2, b: 2 }), PREFER);
  fleet.steps(5, running([8, 8, 8, 8]));
  fleet.reload(fleet.servers, {});
  const decision = fleet.steps(1, (step) => running([8, 8, 8, 8])(step + 5));
  assert.deepEqual([decision.publish, decision.zones], ['configuration', undefined]);
  fleet.reload(fleet.servers, PREFER);
  assert.equal(fleet.steps(1, (step) => running([8, 8, 8, 8])(step + 6)).zones?.length, 2);
  fleet.reload(fleet.servers, { ...PREFER, mode: 'Observe' });
  const observed = fleet.steps(1, (step) => running([8, 8, 8, 8])(step + 7));
  assert.deepEqual([observed.publish, observed.zones], ['configuration', undefined]);
});

test('under Linear zones are compared by the same measure', () => {
  const options: FleetOptions = { ...PREFER, policy: 'Linear' };
  const decision = new Fleet(inZones({ a: 2, b: 2 }), options).steps(40, running([20, 20, 8, 8]));
  assert.ok(zoneOf(decision, 'a').homeShare < 0.8);
});

test('where there is no choice nothing is told apart: one zone, no zone, no wish, only observed', () => {
  const cases: readonly (readonly [readonly Backend[], FleetOptions])[] = [
    [inZones({ a: 4 }), PREFER],
    [inZones({ none: 4 }), PREFER],
    [inZones({ a: 2, b: 2 }), {}],
    [inZones({ a: 2, b: 2 }), { ...PREFER, mode: 'Observe' }],
  ];
  for (const [servers, options] of cases) {
    const decision = new Fleet(servers, options).steps(3, running([8, 8, 8, 8]));
    assert.equal(decision.zones, undefined);
    assert.deepEqual(decision.warnings, []);
  }
  const some = new Fleet(inZones({ a: 2, none: 2 }), PREFER).steps(3, running([8, 8, 8, 8]));
  assert.deepEqual(
    some.zones?.map(({ zone }) => zone),
    ['a'],
  );
});

test('more than 16 zones are not told apart, and a warning says so', () => {
  const many = Array.from({ length: 17 }, (_, i) => backend(i + 1, { zone: `z${i}` }));
  const loads = many.map(() => 8);
  const decision = new Fleet(many, PREFER).steps(3, running(loads));
  assert.equal(decision.zones, undefined);
  assert.deepEqual(decision.warnings, [
    'Locality: Prefer tells at most 16 zones apart, the backends are in 17: sidecars use all zones alike',
  ]);
});

test('without Prefer everybody is told the same numbers, wherever backends are', () => {
  const loads = running([5, 12, 8, 20]);
  const [here, nowhere] = [inZones({ a: 2, b: 2 }), inZones({ none: 4 })].map((servers) => {
    const { endpoints } = new Fleet(servers).steps(10, loads).assignment;
    return endpoints.map(({ weight, health }) => [weight, health]);
  });
  assert.deepEqual(here, nowhere);
});

test('a zone is no capacity: what is learned compares the backends of a zone', () => {
  const loads = running([6, 6, 12, 12]);
  const { backends: decided } = new Fleet(inZones({ a: 2, b: 2 }), PREFER).steps(600, loads);
  for (const { capacity } of decided) assert.ok(Math.abs(capacity - 1) < 0.02, `${capacity}`);
});

test('in a closed loop an overloaded zone is relieved, and all is at home again when the load is', () => {
  const fleet = new Fleet(inZones({ a: 4, b: 4 }), PREFER);
  const engines = Array.from({ length: 8 }, () => ({ running: 0, queued: 0, finished: 0 }));
  const next = random(7);
  const perZone = 8; // requests per second that four engines of 16 slots finish, at 8 s each
  let decision = fleet.step(engines);
  const homeShares: number[] = [];
  const queues: number[] = [];
  for (let second = 0; second < 360; second++) {
    const loads = second >= 60 && second < 240 ? [1.3, 0.3] : [0.5, 0.5];
    for (let tick = 0; tick < 20; tick++) {
      for (const [z, part] of loads.entries()) {
        const { endpoints } = zoneOf(decision, 'ab'[z] ?? '').assignment;
        const total = endpoints.reduce((sum, of) => sum + of.weight, 0);
        for (let chance = (perZone * part) / 20; chance > 0; chance--) {
          if (next() >= chance) continue;
          let place = next() * total;
          const chosen = endpoints.findIndex(({ weight }) => (place -= weight) <= 0);
          const engine = engines[Math.max(0, chosen)];
          if (engine !== undefined) engine.queued++;
        }
      }
      for (const engine of engines) {
        const done = Array.from({ length: engine.running }, next).filter((luck) => luck < 1 / 160).length;
        engine.finished += done;
        engine.running -= done;
        const begun = Math.min(engine.queued, 16 - engine.running);
        engine.running += begun;
        engine.queued -= begun;
      }
    }
    decision = fleet.step(engines.map((of) => ({ ...of, kvUtilization: of.running / 20 })));
    homeShares.push(zoneOf(decision, 'a').homeShare);
    queues.push(engines.reduce((sum, of) => sum + of.queued, 0) / engines.length);
  }
  const mean = (of: readonly number[]): number => of.reduce((sum, value) => sum + value, 0) / of.length;
  assert.ok(mean(homeShares.slice(30, 60)) > 0.97);
  const overloaded = mean(homeShares.slice(100, 240));
  // 1.3 of its own capacity: a quarter has to go for both to be as busy, and a third for no more than that
  assert.ok(overloaded > 0.55 && overloaded < 0.85, `${overloaded}`);
  assert.ok(mean(queues.slice(100, 240)) < 2, `${mean(queues.slice(100, 240))} queued`);
  assert.ok(mean(homeShares.slice(300)) > 0.97);
});

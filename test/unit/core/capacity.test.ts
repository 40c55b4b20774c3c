import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { capacitiesOf, learnResiduals } from '../../../src/core/capacity.ts';
import { backend } from '../../support/decisions.ts';
import { type Answer, backends, Fleet, one, PROPORTIONAL } from '../../support/fleet.ts';

const all = () => true;
const EACH_SECOND = { stepSeconds: 1, intervalSeconds: 1 };
const believed = (count: number) => new Float64Array(count).fill(1);
const speedsOf = (...values: readonly number[]) => ({
  values: Float64Array.from(values),
  compared: believed(values.length),
  basis: undefined,
});

function learn(
  times: number,
  deviations: readonly number[],
  learns: (index: number) => boolean = all,
  T = 1,
  trusts: Float64Array = believed(deviations.length),
  isCounted: (index: number) => boolean = all,
) {
  const shares = Float64Array.from(deviations, () => 1);
  let capacities: Float64Array = Float64Array.from(deviations, () => 1);
  for (let i = 0; i < times; i++) {
    capacities = learnResiduals(
      capacities,
      Float64Array.from(deviations),
      shares,
      learns,
      { stepSeconds: T, intervalSeconds: T },
      trusts,
      isCounted,
    );
  }
  return [...capacities];
}

test('who is lighter again and again is given more, who is heavier less; the mean stays 1', () => {
  const [light = 0, heavy = 0] = learn(60, [0.2, -0.2]);
  assert.ok(light > 1.05 && heavy < 0.95);
  assert.ok(Math.abs(light + heavy - 2) < 1e-9);
});

test('one step: the rate is T / max(120 s, 10 T)', () => {
  for (const [T, rate] of [
    [1, 1 / 120],
    [12, 0.1],
    [50, 0.1],
  ] as const) {
    const [light = 0, heavy = 0] = learn(1, [0.5, -0.5], all, T);
    assert.ok(Math.abs(Math.log(light / heavy) - rate) < 1e-9, `T ${T}`);
  }
});

test('a deviation beyond 1 counts as 1', () => {
  assert.deepEqual(learn(1, [5, -5]), learn(1, [1, -1]));
});

test('0.2 at least, 3 at most', () => {
  const learned = learn(5000, [1, -1, -1, -1, -1]);
  assert.equal(learned[0], 3);
  assert.ok(learned.slice(1).every((capacity) => capacity >= 0.2 && capacity < 1));
  assert.ok(learn(5000, [-1, 1, 1]).every((capacity) => capacity >= 0.2));
});

test('what is no longer confirmed is forgotten: 1/e after 20 minutes', () => {
  let capacities: Float64Array = Float64Array.from([1.1, 0.9]);
  const start = Math.log(1.1 / 0.9);
  const still = new Float64Array(2);
  const shares = Float64Array.from([1, 1]);
  for (let i = 0; i < 1200; i++)
    capacities = learnResiduals(capacities, still, shares, all, EACH_SECOND, believed(2), all);
  const left = Math.log((capacities[0] ?? 0) / (capacities[1] ?? 0)) / start;
  assert.ok(Math.abs(left - Math.exp(-1)) < 0.01, `${left}`);
});

test('who may not learn keeps the value but for the mean', () => {
  const [first = 0, second = 0, third = 0] = learn(10, [0.5, 0, -0.5], (index) => index !== 0);
  assert.ok(first >= second && second > third);
});

test('who is out is judged by no load: what queues there answers to no weight', () => {
  const fleet = new Fleet(4);
  const rest = (step: number) => ({ queued: 0, running: 8, kvUtilization: 0.3, finished: 4 * step });
  const draining = (step: number) => ({
    queued: 300 - step,
    running: 16,
    kvUtilization: 0.9,
    finished: 4 * step,
  });
  const before = fleet.steps(60, (step) => [rest(step), rest(step), rest(step), rest(step)]);
  const after = fleet.steps(160, (step) => [
    draining(60 + step),
    rest(60 + step),
    rest(60 + step),
    rest(60 + step),
  ]);
  const [out] = after.backends;
  assert.equal(out?.health, 'UNHEALTHY');
  const was = before.backends[0]?.basis.residual ?? 0;
  assert.ok((out?.basis.residual ?? 0) > 0.95 * was, `${out?.basis.residual}, it was ${was}`);
});

test('equal ones learn nothing from being far lighter than those that are out and full', () => {
  for (const locality of ['None', 'Prefer'] as const) {
    const servers = backends(4).map((of, index) => ({ ...of, zone: index % 2 === 0 ? 'a' : 'b' }));
    const options = { locality, saturation: { ...PROPORTIONAL, admission: 'None' as const } };
    const fleet = new Fleet(servers, options);
    const decision = fleet.steps(180, (step) =>
      [0, 1, 2, 3].map((index) =>
        index < 2
          ? { running: 8, queued: 12, kvUtilization: 0.999 + (step % 7) / 1e6, finished: 4 * step }
          : { running: 4, kvUtilization: 0.25 + (step % 7) / 1e6, finished: 4 * step },
      ),
    );
    assert.ok((decision.backends[3]?.deviation ?? 0) > 1.2, `${decision.backends[3]?.deviation}`);
    for (const { basis } of decision.backends) {
      assert.ok(Math.abs(basis.residual - 1) < 0.01, `${locality}: ${basis.residual}`);
    }
  }
});

test('equal ones learn nothing from their zone being far busier than the other', () => {
  const servers = backends(4).map((of, index) => ({ ...of, zone: index < 2 ? 'a' : 'b' }));
  const saturation = { ...PROPORTIONAL, admission: 'None' as const };
  const fleet = new Fleet(servers, { locality: 'Prefer', saturation });
  const decision = fleet.steps(240, (step) =>
    [8, 8, 0, 0].map((queued) => ({
      running: 8,
      queued,
      kvUtilization: 0.5 + (step % 7) / 1e6,
      finished: 4 * step,
    })),
  );
  assert.ok((decision.backends[3]?.deviation ?? 0) > 2, `${decision.backends[3]?.deviation}`);
  for (const { basis } of decision.backends)
    assert.ok(Math.abs(basis.residual - 1) < 0.01, `${basis.residual}`);
});

test('nor does one that is out teach those that have no zone, where others have one', () => {
  const zones = ['a', 'a', 'b', 'b', undefined, undefined];
  const servers = backends(6).map((of, index) => ({ ...of, zone: zones[index] }));
  const fleet = new Fleet(servers, { locality: 'Prefer' });
  const decision = fleet.steps(600, (step) =>
    servers.map((_, index) =>
      index === 5
        ? {
            queued: 40,
            running: 8,
            kvUtilization: 0.9 + (step % 9) / 10_000,
            finished: Math.floor(step / 20),
          }
        : { running: 8, kvUtilization: 0.4 + (step % 5) / 1000, finished: 3 * step },
    ),
  );
  const residual = decision.backends[4]?.basis.residual ?? 0;
  const others = decision.backends[0]?.basis.residual ?? 0;
  assert.ok(residual < 1.1 * others, `${residual} against ${others}`);
});

test('where no counter tells, 1.5 at most', () => {
  const uncounted = () => false;
  const [light = 0, heavy = 0] = learn(5000, [1, -1, -1, -1], all, 1, believed(4), uncounted);
  assert.equal(light, 1.5);
  assert.ok(heavy > 0.2 && heavy < 1, `${heavy}`);
  const slow = learn(30, [0.4, -0.4], all, 1, believed(2), uncounted);
  assert.deepEqual(slow, learn(30, [0.4, -0.4]), 'as fast as with one');
});

test('of one that is not believed what was learned upward is forgotten, to 1/e in two minutes', () => {
  const shares = Float64Array.of(1, 1);
  let residuals: Float64Array = Float64Array.of(1.5, 0.5);
  const trusts = Float64Array.of(0, 1);
  for (let i = 0; i < 120; i++)
    residuals = learnResiduals(residuals, new Float64Array(2), shares, all, EACH_SECOND, trusts, all);
  const [first = 0, second = 0] = residuals;
  const plain = [1.5, 0.5].map((value) => value ** Math.exp(-0.1));
  const ratio = 1.5 ** Math.exp(-1.1) / (plain[1] ?? 0);
  assert.ok(Math.abs(first / second / ratio - 1) < 0.1, `${first / second}, not ${ratio}`);
  const [low = 0] = learn(60, [-1, 1], all, 1, Float64Array.of(0, 1));
  assert.ok(low < 0.7, 'downward it learns as ever');
});

test('a backend of configured weight 0 stands and is in no mean', () => {
  const capacities = learnResiduals(
    Float64Array.from([2, 1, 1]),
    Float64Array.from([0, 0.5, -0.5]),
    Float64Array.from([0, 1, 1]),
    (index) => index !== 0,
    EACH_SECOND,
    believed(3),
    all,
  );
  assert.equal(capacities[0], 2);
  assert.ok(Math.abs((capacities[1] ?? 0) + (capacities[2] ?? 0) - 2) < 1e-12);
});

/** Of equal speed, but the second has longer prompts; more come to the first, as its weight says. */
const lop = (step: number) => [
  { running: 30, kvUtilization: 0.2, finished: 3 * step },
  { running: 20, kvUtilization: 0.6, finished: 2 * step },
];

/** One of four that is steadily lighter than the others, and as fast. */
const unlike = (finished: number): readonly Answer[] => [
  { running: 8, kvUtilization: 0.2, finished },
  ...Array.from({ length: 3 }, () => ({ running: 12, kvUtilization: 0.3, finished })),
];

test('the capacity is the residual times the speed over the mean, 0.2..3; the residual stands', () => {
  const shares = Float64Array.from([1, 1, 0]);
  const residuals = Float64Array.from([1.2, 0.8, 1]);
  const { products, residuals: kept } = capacitiesOf(residuals, speedsOf(1.5, 0.5, 1), shares);
  for (const [index, expected] of [1.8 / 1.1, 0.4 / 1.1, 1].entries()) {
    assert.ok(Math.abs((products[index] ?? 0) - expected) < 1e-12, `${index}: ${products[index]}`);
  }
  assert.equal(kept, residuals);
  const four = Float64Array.from([1, 1, 1, 1]);
  const extreme = capacitiesOf(Float64Array.from([3, 0.2, 0.2, 0.2]), speedsOf(3, 0.2, 0.2, 0.2), four);
  assert.deepEqual([...extreme.products], [3, 0.2, 0.2, 0.2]);
});

test('a group learns from fresh samples', () => {
  const decision = new Fleet(2).steps(60, lop);
  assert.ok(one(decision, 0).capacity > 1.04 && one(decision, 1).capacity < 0.96);
  assert.match(one(decision, 1).reasons.join(), /learned capacity: weight × 0\.\d+/);
});

test('what is learned goes by the time, not by how many runs a changing membership makes of it', () => {
  const residualAfterMinute = (apartSeconds: number): number => {
    const fleet = new Fleet(4, { intervalSeconds: 15 });
    let decision = fleet.step(unlike(0));
    for (let second = apartSeconds; second <= 60; second += apartSeconds)
      decision = fleet.step(unlike(second), 0, apartSeconds);
    return one(decision, 0).basis.residual;
  };
  const [due, early] = [residualAfterMinute(15), residualAfterMinute(1)];
  assert.ok(due > 1.06, `${due}`);
  // the first run counts for an interval, whenever the next one comes
  assert.ok(Math.abs(early - due) < 0.005, `${early}, not ${due}`);
});

test('nothing is learned under Linear, without answers, or from one that is missing', () => {
  const linear = new Fleet(2, { policy: 'Linear' }).steps(60, lop);
  assert.deepEqual(
    linear.backends.map((of) => of.capacity),
    [1, 1],
  );

  const fleet = new Fleet(2);
  const before = fleet.steps(60, lop).backends.map((of) => of.capacity);
  const blind = fleet.steps(60, ['timeout', 'timeout']).backends.map((of) => of.capacity);
  assert.deepEqual(blind, before);

  const missing = new Fleet(3);
  const decision = missing.steps(120, (step) => [...lop(step), step === 0 ? { running: 20 } : 'refused']);
  const third = one(decision, 2);
  assert.ok(third.deviation < -0.09 && Math.abs(third.capacity - 1) < 0.03, `${third.capacity}`);
});

test('a newcomer learns only after its slow start', () => {
  const answers = (step: number): readonly Answer[] => [
    { running: 30, kvUtilization: 0.4, finished: 3 * step },
    { running: 30, kvUtilization: 0.4, finished: 3 * step },
    { running: 60, kvUtilization: 0.8, queued: 2, finished: 3 * step },
  ];
  const fleet = new Fleet(2);
  fleet.step(answers(0));
  fleet.reload(backends(3));
  const residual = (count: number, of: Fleet, from: number): number =>
    one(
      of.steps(count, (step) => answers(from + step)),
      2,
    ).basis.residual;
  const young = residual(29, fleet, 0);
  assert.ok(Math.abs(young - 1) < 0.02, `only the mean moves it: ${young}`);
  assert.ok(residual(29, new Fleet(3), 0) < 0.97, 'had it been there from the start');
  assert.ok(residual(60, fleet, 29) < young - 0.03);
});

test('what is learned stays with the backend through a reload', () => {
  const fleet = new Fleet(2);
  const learned = one(fleet.steps(60, lop), 1).capacity;
  fleet.reload([backend(2), backend(1)]);
  const decision = fleet.step(lop(61).toReversed());
  assert.equal(one(decision, 0).backend.id, '10.0.3.2:8000');
  assert.ok(Math.abs(one(decision, 0).capacity - learned) < 0.02);
});

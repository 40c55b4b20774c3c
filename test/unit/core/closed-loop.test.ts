import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { evaluatePlain } from '../../../src/core/evaluate.ts';
import type { AdmissionPolicy, PolicyName } from '../../../src/core/model/balance-settings.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backends, Fleet, loadAwareGroup } from '../../support/fleet.ts';
import { random } from '../../support/random.ts';
import { SLOTS, SlotEngine, STAY_SECONDS } from '../../support/slot-engine.ts';

const TICK_SECONDS = 0.05;

interface Result {
  readonly decisions: readonly GroupDecision[];
  readonly refused: readonly number[];
}

/** How many requests an engine runs at once, and how long each takes at full speed on average. */
interface Kind {
  readonly slots: number;
  readonly staySeconds: number;
}

/** Runs engines of these speeds under a load, as a part of what they can do together, that may differ by the second. */
function simulate(
  speeds: readonly number[],
  loadAt: (second: number) => number,
  seconds: number,
  decide: (samples: readonly Sample[]) => GroupDecision,
  { slots, staySeconds }: Kind = { slots: SLOTS, staySeconds: STAY_SECONDS },
  seed = 42,
): Result {
  const next = random(seed);
  const engines = speeds.map((speed) => new SlotEngine(speed, slots, staySeconds));
  const capacity = (speeds.reduce((sum, speed) => sum + speed, 0) * slots) / staySeconds;
  const decisions: GroupDecision[] = [];
  const refused: number[] = [];
  for (let second = 0; second < seconds; second++) {
    const decision = decide(engines.map((engine) => engine.sample));
    decisions.push(decision);
    refused.push(0);
    for (let tick = 0; tick < 1 / TICK_SECONDS; tick++) {
      let due = capacity * loadAt(second) * TICK_SECONDS;
      for (; next() < due; due--) {
        const { dropShare } = decision.assignment;
        const dropped = dropShare > 0 && next() < dropShare;
        const engine = dropped ? undefined : engines[pick(decision, next())];
        if (engine === undefined) refused[second] = (refused[second] ?? 0) + 1;
        else engine.admit(-Math.log(1 - next()) * staySeconds);
      }
      for (const engine of engines) engine.tick(TICK_SECONDS);
    }
  }
  return { decisions, refused };
}

/** Weighted choice among the healthy; -1: none. */
function pick(decision: GroupDecision, at: number): number {
  let left = at;
  return decision.backends.findIndex((of) => {
    left -= of.share;
    return left < 0;
  });
}

function balanced(
  count: number,
  policy: PolicyName = 'Adaptive',
): (samples: readonly Sample[]) => GroupDecision {
  const fleet = new Fleet(count, { policy });
  return (samples) => fleet.step(samples);
}

/** Marks with and without admission beside them. */
function guarded(count: number, admission: AdmissionPolicy): (samples: readonly Sample[]) => GroupDecision {
  const saturation = {
    totalQueuedRequests: { mark: 10, clear: 3 },
    kvCacheUtilization: { mark: 0.98 },
    runningRequests: undefined,
    admission,
  };
  const fleet = new Fleet(count, { saturation });
  return (samples) => fleet.step(samples);
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const meanShare = (decisions: readonly GroupDecision[], index: number) =>
  mean(decisions.map((decision) => decision.backends[index]?.share ?? 0));
const queuedIn = (decision: GroupDecision) =>
  decision.backends.reduce((sum, of) => sum + (of.sample?.queued ?? 0), 0);

for (const policy of ['Adaptive', 'Linear'] as const) {
  test(`${policy}: a backend of half the speed gets about half the share, and no queue builds up`, () => {
    const { decisions, refused } = simulate([1, 1, 1, 0.5], () => 0.8, 300, balanced(4, policy));
    const settled = decisions.slice(100);
    const slow = meanShare(settled, 3);
    assert.ok(slow > 0.08 && slow < 0.2, `share of the slow one: ${slow}; 1/7 would be ideal`);
    assert.ok(mean(settled.map(queuedIn)) < 12, `queued on average: ${mean(settled.map(queuedIn))}`);
    assert.equal(mean(refused), 0);
  });
}

test('plain weighted round robin drowns the same slow backend', () => {
  const group = { ...loadAwareGroup(backends(4)), loadAware: undefined };
  const queues: number[] = [];
  simulate(
    [1, 1, 1, 0.5],
    () => 0.8,
    300,
    (samples) => {
      queues.push(samples[3]?.queued ?? 0);
      return evaluatePlain(group, 0);
    },
  );
  assert.ok((queues.at(-1) ?? 0) > 100, `${queues.at(-1)} queued at the slow one`);
});

test('equal backends keep about equal shares: the loop does not swing', () => {
  const { decisions } = simulate([1, 1, 1, 1], () => 0.7, 300, balanced(4));
  const settled = decisions.slice(60);
  for (let index = 0; index < 4; index++) {
    assert.ok(Math.abs(meanShare(settled, index) - 0.25) < 0.02, `${index}: ${meanShare(settled, index)}`);
  }
  assert.equal(settled.filter((decision) => decision.publish === 'health').length, 0);
  assert.ok(
    settled.every((decision) => decision.backends.every((of) => of.capacity > 0.7 && of.capacity < 1.4)),
  );
});

test('overload ends in 503s, and the fleet is back soon after', () => {
  const load = (second: number) => (second >= 60 && second < 120 ? 2.5 : 0.5);
  const { decisions, refused } = simulate([1, 1, 1, 1], load, 200, balanced(4));
  assert.ok(mean(refused.slice(70, 120)) > 5, `${mean(refused.slice(70, 120))} refused a second in overload`);
  assert.equal(mean(refused.slice(0, 60)), 0);
  assert.equal(mean(refused.slice(135)), 0, 'nothing is refused 15 s after');
  const after = decisions.slice(150);
  assert.ok(after.every((decision) => decision.backends.every((of) => of.health === 'HEALTHY')));
  assert.ok(mean(after.map(queuedIn)) < 2);
});

test('with admission an overload is refused evenly, with short queues, and it ends soon', () => {
  const load = (second: number) => (second >= 60 && second < 160 ? 1.5 : 0.5);
  const run = (admission: AdmissionPolicy) => simulate([1, 1, 1, 1], load, 200, guarded(4, admission));
  const [shedding, marks] = [run('Proportional'), run('None')];
  const overload = <T>(values: readonly T[]) => values.slice(80, 160);
  const deviation = (values: readonly number[]) =>
    Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
  const flips = (decisions: readonly GroupDecision[]) =>
    overload(decisions).filter((decision) => decision.publish === 'health').length;
  const [even, sawtooth] = [deviation(overload(shedding.refused)), deviation(overload(marks.refused))];
  assert.ok(even < sawtooth / 1.5, `deviation of the refused: ${even} instead of ${sawtooth} by marks`);
  assert.ok(flips(shedding.decisions) <= flips(marks.decisions) / 4, `${flips(shedding.decisions)} flips`);
  assert.ok(
    mean(overload(shedding.decisions).map(queuedIn)) < mean(overload(marks.decisions).map(queuedIn)) / 2,
  );
  assert.equal(mean(shedding.refused.slice(0, 60)), 0);
  assert.equal(mean(shedding.refused.slice(175)), 0, 'nothing is refused 15 s after');
});

test('requests that stay long: a lasting overload is refused with few pauses, and the share swings little', () => {
  const load = (second: number) => (second < 200 ? 1.2 : 0.5);
  const speeds = Array.from({ length: 8 }, () => 1);
  const kind = { slots: 64, staySeconds: 10 };
  const runs = [1, 2, 3, 4, 5, 6].map((seed) => {
    const { decisions, refused } = simulate(speeds, load, 240, guarded(8, 'Proportional'), kind, seed);
    const overload = decisions.slice(80, 200);
    const shares = overload.map(({ assignment }) => assignment.dropShare);
    assert.ok(Math.abs(mean(shares) - (1 - 1 / 1.2)) < 0.04, `seed ${seed}: ${mean(shares)} on average`);
    assert.ok(!overload.some(({ publish }) => publish === 'health'), `seed ${seed}: no mark flips`);
    assert.equal(mean(refused.slice(215)), 0, `seed ${seed}: nothing is refused 15 s after`);
    const deviation = Math.sqrt(mean(shares.map((share) => (share - mean(shares)) ** 2)));
    return { deviation, pauses: shares.filter((share) => share === 0).length };
  });
  const swing = mean(runs.map(({ deviation }) => deviation));
  assert.ok(swing < 0.085, `the share swings by ${swing}`);
  const pauses = mean(runs.map(({ pauses: seconds }) => seconds));
  assert.ok(pauses < 4, `for ${pauses} of 120 s nothing is refused`);
});

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { fileNameOf, type StoredCell } from '../../../bench/routing/cell-store.ts';
import type { CellResult, CellSpec, Scenario } from '../../../bench/routing/model.ts';
import { Plan, type Selection } from '../../../bench/routing/planner.ts';
import { HEADLINE_ARMS, SCENARIOS } from '../../../bench/routing/scenarios.ts';
import { syntheticCell } from './synthetic-cell.ts';

const EQUAL = SCENARIOS.find(({ name }) => name === 'equal-0.85')!;
const SLOW = SCENARIOS.find(({ name }) => name === 'half-speed-0.8')!;

test('seeds outermost, arms of the same requests side by side', () => {
  const { plan } = planOf({
    scenarios: [EQUAL, SLOW],
    arms: ['linear', 'adaptive'],
    sidecars: [4],
    seeds: 2,
  });
  assert.deepEqual(plan.open().map(words), [
    'equal-0.85 linear 4 1 1',
    'equal-0.85 adaptive 4 1 1',
    'half-speed-0.8 linear 4 1 1',
    'half-speed-0.8 adaptive 4 1 1',
    'equal-0.85 linear 4 2 1',
    'equal-0.85 adaptive 4 2 1',
    'half-speed-0.8 linear 4 2 1',
    'half-speed-0.8 adaptive 4 2 1',
  ]);
});

test('with other numbers of sidecars only the arms of the headline, unless arms are asked for', () => {
  const { plan } = planOf({ scenarios: [EQUAL], seeds: 1 });
  const arms = (sidecars: number): readonly string[] =>
    plan
      .open()
      .filter((spec) => spec.sidecars === sidecars)
      .map(({ arm }) => arm);
  assert.deepEqual(arms(4), EQUAL.arms);
  assert.deepEqual(arms(1), HEADLINE_ARMS);
  assert.deepEqual(arms(16), HEADLINE_ARMS);
  const asked = planOf({ scenarios: [EQUAL], arms: ['orca'], sidecars: [16], seeds: 1 });
  assert.deepEqual(asked.plan.open().map(words), ['equal-0.85 orca 16 1 1']);
});

test('what is finished is not played again', () => {
  const { plan, finish } = planOf({ scenarios: [EQUAL], arms: HEADLINE_ARMS, sidecars: [4], seeds: 1 });
  finish(plan.open()[1]!);
  assert.deepEqual(
    plan.open().map(({ arm }) => arm),
    ['round-robin', 'adaptive'],
  );
  assert.equal(plan.size, 3);
});

test('a disturbed cell takes all arms of its requests to a lower rate, three times, and is then shown', () => {
  const { plan, finish } = planOf({ scenarios: [EQUAL], arms: HEADLINE_ARMS, sidecars: [4], seeds: 2 });
  const first = (): readonly CellSpec[] => plan.open().filter(({ seed }) => seed === 1);
  for (const rateFactor of [1, 0.9, 0.8, 0.7]) {
    assert.deepEqual(
      first().map((spec) => spec.rateFactor),
      [rateFactor, rateFactor, rateFactor],
    );
    const [roundRobin, leastRequest] = first();
    finish(roundRobin!);
    finish(leastRequest!, ['generator late']);
  }
  assert.deepEqual(first().map(words), ['equal-0.85 adaptive 4 1 0.7'], 'nothing below the last rate');
  assert.ok(plan.open().some((spec) => spec.seed === 2 && spec.rateFactor === 1));
  assert.deepEqual(
    plan.disturbed().map(words),
    [1, 0.9, 0.8, 0.7].map((rate) => `equal-0.85 least-request 4 1 ${rate}`),
  );
  const rows = plan.rows();
  const shown = rows.map(({ arm, cells, disturbed }) => [arm, cells.length, disturbed.length]);
  assert.deepEqual(shown, [
    ['round-robin', 1, 0],
    ['least-request', 0, 1],
    ['adaptive', 0, 0],
  ]);
  assert.equal(rows[0]?.cells[0]?.rateFactor, 0.7);
});

test('with fewer reruns it is shown sooner', () => {
  const { plan, finish } = planOf({
    scenarios: [EQUAL],
    arms: ['linear'],
    sidecars: [4],
    seeds: 1,
    reruns: 1,
  });
  for (const rateFactor of [1, 0.9]) {
    assert.deepEqual(plan.open().map(words), [`equal-0.85 linear 4 1 ${rateFactor}`]);
    finish(plan.open()[0]!, ['machine busy']);
  }
  assert.deepEqual(plan.open(), []);
  assert.equal(plan.rows()[0]?.disturbed.length, 1);
});

test('an arm that is not asked for now had its part in the rate', () => {
  const { plan, finish, finished } = planOf({ scenarios: [EQUAL], sidecars: [4], seeds: 1 });
  finish(plan.open().find(({ arm }) => arm === 'orca')!, ['machine busy']);
  const later = new Plan({ scenarios: [EQUAL], arms: ['adaptive'], sidecars: [4], seeds: 1 }, finished);
  assert.deepEqual(later.open().map(words), ['equal-0.85 adaptive 4 1 0.9']);
});

test('rows by scenario, sidecars and arm, with their seeds together', () => {
  const { plan, finish } = planOf({
    scenarios: [SLOW, EQUAL],
    sidecars: [16, 4],
    arms: HEADLINE_ARMS,
    seeds: 2,
  });
  for (const spec of plan.open()) finish(spec);
  assert.deepEqual(
    plan.rows().map(({ scenario, sidecars, arm }) => `${scenario.name} ${sidecars} ${arm}`),
    ['half-speed-0.8', 'equal-0.85'].flatMap((name) =>
      [4, 16].flatMap((sidecars) => HEADLINE_ARMS.map((arm) => `${name} ${sidecars} ${arm}`)),
    ),
  );
  for (const { cells, products } of plan.rows()) {
    assert.deepEqual(
      cells.map(({ seed }) => seed),
      [1, 2],
    );
    assert.deepEqual(products, ['made']);
  }
});

test('a cell is another one when its scenario changes, not when its title or its plan does', () => {
  const spec: CellSpec = { scenario: EQUAL, arm: 'linear', sidecars: 4, seed: 2, rateFactor: 0.9 };
  const other = (scenario: Scenario): string => fileNameOf({ ...spec, scenario });
  assert.match(fileNameOf(spec), /^equal-0\.85\.linear\.4\.2\.0\.9\.[0-9a-f]{8}\.json$/);
  assert.equal(other({ ...EQUAL, title: 'other', arms: ['linear'], sidecars: [2] }), fileNameOf(spec));
  assert.equal(other(Object.fromEntries(Object.entries(EQUAL).toReversed()) as never), fileNameOf(spec));
  assert.notEqual(other({ ...EQUAL, warmUpSeconds: 11 }), fileNameOf(spec));
});

function planOf(selection: Selection): {
  plan: Plan;
  finish: (spec: CellSpec, disturbances?: readonly string[]) => void;
  finished: (spec: CellSpec) => StoredCell | undefined;
} {
  const results = new Map<string, CellResult>();
  const finished = (spec: CellSpec): StoredCell | undefined => {
    const result = results.get(fileNameOf(spec));
    return result && { product: 'made', result };
  };
  const finish = (spec: CellSpec, disturbances: readonly string[] = []): void => {
    results.set(fileNameOf(spec), syntheticCell(spec, { disturbances }));
  };
  return { plan: new Plan(selection, finished), finish, finished };
}

function words({ scenario, arm, sidecars, seed, rateFactor }: CellSpec): string {
  return `${scenario.name} ${arm} ${sidecars} ${seed} ${rateFactor}`;
}

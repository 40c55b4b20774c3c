import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { reportToMarkdown } from '../../../bench/routing/markdown.ts';
import type { ArmName, CellResult, CellSpec, Scenario } from '../../../bench/routing/model.ts';
import { pictureOf } from '../../../bench/routing/picture.ts';
import { type Report, reportOf, reportToJson } from '../../../bench/routing/report.ts';
import type { Row } from '../../../bench/routing/row.ts';
import { HEADLINE_ARMS, SCENARIOS } from '../../../bench/routing/scenarios.ts';
import { assertGolden } from '../../../support/golden.ts';
import { syntheticCell } from './synthetic-cell.ts';

const IN_TIME: Partial<Record<ArmName, number>> = {
  'round-robin': 0.6,
  'least-request': 0.92,
  adaptive: 0.97,
};

test('the tables', () => {
  const report = reportOf(madeRows(), 'made');
  assertGolden('bench/routing/report.md', reportToMarkdown(report));
});

test('the picture', () => {
  const picture = pictureOf(reportOf(madeRows(), 'made'));
  assertGolden('bench/routing/picture.svg', picture!);
});

test('the JSON holds every figure, the infinite ones as text', () => {
  const report = reportOf(madeRows(), 'made');
  const parsed = JSON.parse(reportToJson(report)) as Report;
  const overload = parsed.scenarios.find(({ scenario }) => scenario.name === 'overload-1.5')!;
  assert.equal(overload.rows[0]?.figures?.recovery, 'Infinity');
  assert.equal(overload.rows[2]?.figures?.recovery, 0);
  assert.equal(parsed.goals.length, report.goals.length);
});

test('cells that only were disturbed are shown as that', () => {
  const scenario = scenarioOf('equal-0.6');
  const row = rowOf(scenario, 'adaptive', { disturbed: ['processor 95 % busy'] });
  const text = reportToMarkdown(reportOf([row], 'made'));
  assert.match(text, /\| \*\*Plimsoll\*\* ‡ \| 4 \| disturbed \|/);
  assert.match(text, /^- ‡ Plimsoll, 4 sidecars, seed 1 is left out: processor 95 % busy$/m);
});

test('cells of another version of the product are never mixed in silently', () => {
  const row = { ...rowOf(scenarioOf('equal-0.6'), 'adaptive'), products: ['old'] };
  const text = reportToMarkdown(reportOf([row], 'new'));
  assert.match(text, /\*\*Mixed:\*\*/);
  assert.match(text, /\| \*\*Plimsoll\*\* † \| 4 \|/);
  assert.doesNotMatch(reportToMarkdown(reportOf([row], 'old')), /Mixed|†/);
});

test('nothing finished: no table, no picture', () => {
  const report = reportOf([{ ...rowOf(scenarioOf('equal-0.6'), 'adaptive'), cells: [] }], 'made');
  assert.equal(reportToMarkdown(report), 'No finished cells.\n');
  assert.equal(pictureOf(report), undefined);
});

function scenarioOf(name: string): Scenario {
  return SCENARIOS.find((scenario) => scenario.name === name)!;
}

function madeRows(): readonly Row[] {
  return ['equal-0.85', 'half-speed-0.8', 'overload-1.5'].flatMap((name) =>
    HEADLINE_ARMS.map((arm) => rowOf(scenarioOf(name), arm)),
  );
}

function rowOf(scenario: Scenario, arm: ArmName, { disturbed = [] as readonly string[] } = {}): Row {
  const cells = [1, 2, 3].map((seed) => cellOf({ scenario, arm, sidecars: 4, seed, rateFactor: 1 }));
  const base = { scenario, arm, sidecars: 4, products: ['made'] };
  if (disturbed.length === 0) return { ...base, cells, disturbed: [] };
  return {
    ...base,
    cells: [],
    disturbed: cells.slice(0, 1).map((cell) => ({ ...cell, disturbances: disturbed })),
  };
}

function cellOf(spec: CellSpec): CellResult {
  const overloaded = spec.scenario.name.startsWith('overload');
  if (overloaded) return syntheticCell(spec, spec.arm === 'adaptive' ? { shed: 0.35 } : { inTime: 0.1 });
  return syntheticCell(spec, { inTime: IN_TIME[spec.arm] ?? 1 });
}

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
  const report = reportOf(madeRows(), () => 'made');
  assertGolden('bench/routing/report.md', reportToMarkdown(report));
});

test('the picture', () => {
  const picture = pictureOf(reportOf(madeRows(), () => 'made'));
  assertGolden('bench/routing/picture.svg', picture!);
});

test('the JSON holds every figure, the infinite ones as text', () => {
  const report = reportOf(madeRows(), () => 'made');
  const parsed = JSON.parse(reportToJson(report)) as Report;
  const overload = parsed.scenarios.find(({ scenario }) => scenario.name === 'overload-1.5')!;
  assert.equal(overload.rows[0]?.figures?.recovery, 'Infinity');
  assert.equal(overload.rows[2]?.figures?.recovery, 0);
  assert.equal(parsed.goals.length, report.goals.length);
});

test('cells that only were disturbed are shown as that', () => {
  const scenario = scenarioOf('equal-0.6');
  const row = rowOf(scenario, 'adaptive', { disturbed: ['processor 95 % busy'] });
  const text = reportToMarkdown(reportOf([row], () => 'made'));
  assert.match(text, /^\| \*\*Plimsoll\*\* ‡ \| disturbed \|$/m);
  assert.match(text, /^- ‡ Plimsoll: seed 1 is left out: processor 95 % busy$/m);
});

test('arms that were disturbed alike share a note', () => {
  const rows = HEADLINE_ARMS.map((arm) => rowOf(scenarioOf('equal-0.6'), arm, { disturbed: ['busy'] }));
  const notes = reportToMarkdown(reportOf(rows, () => 'made')).match(/^- .*$/gm);
  assert.deepEqual(notes, ['- ‡ ROUND_ROBIN; LEAST_REQUEST; Plimsoll: seed 1 is left out: busy']);
});

test('a checkout with changes is marked beside its commit', () => {
  const row = rowOf(scenarioOf('equal-0.6'), 'adaptive');
  const cells = row.cells.map((cell) => ({ ...cell, commit: '0123456789abcdef', changed: true }));
  const text = reportToMarkdown(reportOf([row, { ...row, arm: 'round-robin', cells }], () => 'made'));
  assert.match(text, /^Commit 0123abc, 0123456789 with changes, version made /);
});

test('each number of sidecars has a table', () => {
  const rows = [1, 4].flatMap((sidecars) =>
    HEADLINE_ARMS.map((arm) => ({ ...rowOf(scenarioOf('equal-0.85'), arm), sidecars })),
  );
  const text = reportToMarkdown(reportOf(rows, () => 'made'));
  assert.deepEqual(text.match(/^\d+ sidecars?, .*$/gm), [
    '1 sidecar, 3 seeds of 50 s:',
    '4 sidecars, 3 seeds of 50 s:',
  ]);
  assert.equal(text.match(/^\| \*\*Plimsoll\*\* \|/gm)?.length, 2);
  assert.equal(text.match(/^#### `equal-0.85`/gm)?.length, 1);
});

test('a goal of many scenarios tells how many met it, and names those that missed it', () => {
  const calm = ['equal-0.6', 'equal-0.85', 'half-speed-0.8', 'degrading-0.7', 'cold-join-0.7', 'low-rate'];
  const rows = calm.map((name) => rowOf(scenarioOf(name), 'adaptive'));
  const refused = rows.map((row) =>
    row.scenario.name === 'low-rate' ? { ...row, cells: row.cells.map(withOneRefused) } : row,
  );
  const line = /^\| no 503 up to 0.85 .*$/m;
  assert.match(reportToMarkdown(reportOf(rows, () => 'made')).match(line)![0], /\| 6 scenarios: none \|/);
  assert.match(
    reportToMarkdown(reportOf(refused, () => 'made')).match(line)![0],
    /\| 5 scenarios: none \| \*\*`low-rate`: under 0.05 %\*\* \|/,
  );
});

test('cells of another version of the product are never mixed in silently', () => {
  const row = { ...rowOf(scenarioOf('equal-0.6'), 'adaptive'), products: ['old'] };
  const text = reportToMarkdown(reportOf([row], () => 'new'));
  assert.match(text, /\*\*Mixed:\*\*/);
  assert.match(text, /\| \*\*Plimsoll\*\* † \|/);
  assert.doesNotMatch(reportToMarkdown(reportOf([row], () => 'old')), /Mixed|†/);
});

test('nothing finished: no table, no picture', () => {
  const report = reportOf([{ ...rowOf(scenarioOf('equal-0.6'), 'adaptive'), cells: [] }], () => 'made');
  assert.equal(reportToMarkdown(report), 'No finished cells.\n');
  assert.equal(pictureOf(report), undefined);
});

function withOneRefused(cell: CellResult): CellResult {
  const outcome = cell.requests.outcome.map((kept, index) =>
    cell.seed === 1 && index === 7 ? 'shed' : kept,
  );
  return { ...cell, requests: { ...cell.requests, outcome } };
}

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

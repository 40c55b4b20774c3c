import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { compare, compareFirstToken, goodputOf, shedShareOf } from '../../../bench/routing/comparison.ts';
import type { ArmName, CellResult } from '../../../bench/routing/model.ts';
import type { Row } from '../../../bench/routing/row.ts';
import { SCENARIOS } from '../../../bench/routing/scenarios.ts';
import { syntheticCell } from './synthetic-cell.ts';

const SCENARIO = SCENARIOS.find(({ name }) => name === 'equal-0.85')!;

test('goodput lies within its interval, which is narrower with more seeds', () => {
  const one = goodputOf(rowOf('adaptive', 0.9, [1]))!;
  const many = goodputOf(rowOf('adaptive', 0.9, [1, 2, 3, 4, 5, 6]))!;
  for (const { value, low, high } of [one, many]) assert.ok(low < value && value < high && high < 1);
  assert.ok(Math.abs(many.value - 0.9) < 0.02, `${many.value}`);
  assert.ok(many.high - many.low < 0.6 * (one.high - one.low));
});

test('a row beside itself differs by exactly nothing: blocks of arms are drawn together', () => {
  const row = rowOf('adaptive', 0.8, [1, 2]);
  const comparison = compare(row, row)!;
  assert.deepEqual(comparison.missDifference, { value: 0, low: 0, high: 0 });
  assert.deepEqual(comparison.missRatio, { value: 1, low: 1, high: 1 });
  assert.deepEqual(compareFirstToken(row, row, 0.95), { value: 1, low: 1, high: 1 });
});

test('half the misses', () => {
  const { missRatio, missDifference } = compare(
    rowOf('adaptive', 0.95, [1, 2, 3]),
    rowOf('least-request', 0.9, [1, 2, 3]),
  )!;
  assert.ok(missRatio.low > 0.3 && missRatio.high < 0.7, JSON.stringify(missRatio));
  assert.ok(missDifference.low > -0.07 && missDifference.high < -0.03, JSON.stringify(missDifference));
});

test('only seeds that both have, at one rate, are compared', () => {
  const row = rowOf('adaptive', 0.9, [1, 2, 3]);
  const rival = rowOf('round-robin', 0.8, [2, 3, 4], (cell) =>
    cell.seed === 3 ? { ...cell, rateFactor: 0.9 } : cell,
  );
  assert.deepEqual(compare(row, rival)?.seeds, [2]);
  assert.equal(compare(row, rowOf('round-robin', 0.8, [7])), undefined);
  assert.equal(compareFirstToken(row, rowOf('round-robin', 0.8, [7]), 0.95), undefined);
});

test('the p95 of the first token against a slower one', () => {
  const ratio = compareFirstToken(rowOf('adaptive', 1, [1, 2]), rowOf('round-robin', 0.8, [1, 2]), 0.95)!;
  assert.ok(ratio.value > 0.28 && ratio.value < 0.36, JSON.stringify(ratio));
  assert.ok(ratio.low <= ratio.value && ratio.value <= ratio.high);
});

test('a row without cells has no figures', () => {
  const row = rowOf('adaptive', 1, []);
  assert.equal(goodputOf(row), undefined);
  assert.equal(shedShareOf(row), undefined);
});

function rowOf(
  arm: ArmName,
  inTime: number,
  seeds: readonly number[],
  change = (cell: CellResult): CellResult => cell,
): Row {
  const cells = seeds.map((seed) =>
    change(syntheticCell({ scenario: SCENARIO, arm, sidecars: 4, seed, rateFactor: 1 }, { inTime })),
  );
  return { scenario: SCENARIO, arm, sidecars: 4, cells, disturbed: [], products: [] };
}

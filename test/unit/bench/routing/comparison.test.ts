import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Estimate } from '../../../bench/routing/bootstrap.ts';
import { compare, compareFirstToken, goodputOf, shedShareOf } from '../../../bench/routing/comparison.ts';
import type { ArmName, CellResult } from '../../../bench/routing/model.ts';
import type { Row } from '../../../bench/routing/row.ts';
import { SCENARIOS } from '../../../bench/routing/scenarios.ts';
import { syntheticCell } from './synthetic-cell.ts';

const SCENARIO = SCENARIOS.find(({ name }) => name === 'equal-0.85')!;

test('goodput lies within its interval, which is narrower with more seeds', () => {
  const few = goodputOf(rowOf('adaptive', 0.9, [1, 2]))!;
  const many = goodputOf(rowOf('adaptive', 0.9, [1, 2, 3, 4, 5, 6, 7, 8]))!;
  for (const { value, interval } of [few, many])
    assert.ok(interval && interval.low < value && value < interval.high && interval.high < 1);
  assert.ok(Math.abs(many.value - 0.9) < 0.02, `${many.value}`);
  assert.ok(widthOf(many) < 0.7 * widthOf(few), `${widthOf(many)} and ${widthOf(few)}`);
});

test('seeds that differ widen the interval, whatever their blocks', () => {
  const [good, bad] = [rowOf('adaptive', 0.95, [1, 2, 3]), rowOf('adaptive', 0.7, [4])];
  const alike = goodputOf(good)!;
  const unlike = goodputOf({ ...good, cells: [...good.cells.slice(0, 2), ...bad.cells] })!;
  assert.ok(unlike.interval!.low < 0.76 && unlike.interval!.high > 0.94, JSON.stringify(unlike));
  assert.ok(widthOf(unlike) > 3 * widthOf(alike));
});

test('one seed has figures, and no interval', () => {
  const [row, rival] = [rowOf('adaptive', 0.95, [1]), rowOf('round-robin', 0.9, [1])];
  assert.deepEqual(Object.keys(goodputOf(row)!), ['value']);
  assert.deepEqual(Object.keys(compare(row, rival)!.missRatio), ['value']);
});

test('a row beside itself differs by exactly nothing: blocks of arms are drawn together', () => {
  const row = rowOf('adaptive', 0.8, [1, 2]);
  const comparison = compare(row, row)!;
  const same = { value: 1, interval: { low: 1, high: 1 } };
  assert.deepEqual(comparison.missDifference, { value: 0, interval: { low: 0, high: 0 } });
  assert.deepEqual(comparison.missRatio, same);
  assert.deepEqual(comparison.goodputRatio, same);
  assert.equal(comparison.goodput, comparison.rivalGoodput);
  assert.deepEqual(compareFirstToken(row, row, 0.95), same);
});

test('half the misses', () => {
  const { missRatio, missDifference } = compare(
    rowOf('adaptive', 0.95, [1, 2, 3]),
    rowOf('least-request', 0.9, [1, 2, 3]),
  )!;
  const [ratio, difference] = [missRatio.interval!, missDifference.interval!];
  assert.ok(ratio.low > 0.3 && ratio.high < 0.7, JSON.stringify(ratio));
  assert.ok(difference.low > -0.08 && difference.high < -0.02, JSON.stringify(difference));
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
  assert.ok(ratio.interval!.low <= ratio.value && ratio.value <= ratio.interval!.high);
});

test('a row without cells has no figures', () => {
  const row = rowOf('adaptive', 1, []);
  assert.equal(goodputOf(row), undefined);
  assert.equal(shedShareOf(row), undefined);
});

test('503s are a share of the attempts', () => {
  const again = (cell: CellResult): CellResult => {
    const { requests } = cell;
    const outcome = requests.atMs.map((): 'ok' | 'shed' => 'ok');
    return { ...cell, requests: { ...requests, outcome, retried: requests.atMs.map(() => 1) } };
  };
  const { value } = shedShareOf(rowOf('adaptive', 1, [1, 2], again))!;
  // Those of the last second come back after the judged time.
  assert.ok(value > 0.5 && value < 0.52, `${value}`);
});

function widthOf({ interval }: Estimate): number {
  return interval!.high - interval!.low;
}

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

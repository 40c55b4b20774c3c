import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  endTimes,
  firstTokenTimes,
  recoverySeconds,
  shedDeviation,
  showsRecovery,
  tallyBlocks,
} from '../../../bench/routing/measures.ts';
import type { CellResult, OutcomeName, Scenario } from '../../../bench/routing/model.ts';
import { syntheticCell } from './synthetic-cell.ts';

type Line = readonly [atMs: number, outcome: OutcomeName, firstTokenMs: number | null, long?: 0 | 1];

const STEADY = scenarioOf([{ seconds: 10, load: 0.8 }]);
const OVERLOAD = scenarioOf([
  { seconds: 10, load: 1.5 },
  { seconds: 20, load: 0.6 },
]);

test('in time: the first token within the SLO of the prompt, of all offered', () => {
  const cell = cellOf(STEADY, [
    [0, 'ok', 1_000],
    [1, 'ok', 1_000.1],
    [2, 'ok', 5_000, 1],
    [3, 'ok', 5_001, 1],
    [4, 'shed', null],
    [4_999, 'cancelled', 10],
    [5_000, 'failed', 10],
    [5_001, 'unfinished', null],
    [5_002, 'unfinished', 900],
  ]);
  assert.deepEqual(tallyBlocks(STEADY, cell), [
    { offered: 6, missed: 3, attempts: 6, shed: 1 },
    { offered: 3, missed: 2, attempts: 3, shed: 0 },
  ]);
});

test('of an overload only the overload is judged', () => {
  const cell = cellOf(OVERLOAD, [
    [9_999, 'shed', null],
    [10_000, 'shed', null],
  ]);
  assert.deepEqual(
    tallyBlocks(OVERLOAD, cell).map(({ offered }) => offered),
    [0, 1],
  );
});

test('times: what is refused or failed has none, what still waits an infinite one', () => {
  const cell = cellOf(STEADY, [
    [0, 'ok', 200],
    [1, 'shed', null],
    [2, 'failed', 300],
    [5_500, 'cancelled', 400],
    [6_000, 'unfinished', 500],
    [7_000, 'unfinished', null],
  ]);
  assert.deepEqual(firstTokenTimes(STEADY, cell), [
    { ms: 200, block: 0 },
    { ms: 400, block: 1 },
    { ms: 500, block: 1 },
    { ms: Infinity, block: 1 },
  ]);
  assert.deepEqual(endTimes(STEADY, cell), [
    { ms: 700, block: 0 },
    { ms: Infinity, block: 1 },
    { ms: Infinity, block: 1 },
  ]);
});

test('503s that come and go deviate, an even share does not', () => {
  const even = Array.from({ length: 40 }, (_, i): Line => [i * 250, i % 2 === 0 ? 'shed' : 'ok', 100]);
  assert.equal(shedDeviation(STEADY, cellOf(STEADY, even)), 0);
  const sawtooth = even.map(([at]): Line => [at, Math.floor(at / 1_000) % 2 === 0 ? 'shed' : 'ok', 100]);
  assert.equal(shedDeviation(STEADY, cellOf(STEADY, sawtooth)), 0.5);
});

test('a request that was sent again is two attempts, each at its own time, and one offered request', () => {
  const cell = cellOf(
    STEADY,
    [
      [4_500, 'ok', 1_200],
      [4_600, 'ok', 1_200, 1],
      [3_000, 'shed', null],
      [3_100, 'ok', 100],
      [9_500, 'shed', null],
    ],
    [1, 1, 1, 0, 1],
  );
  assert.deepEqual(tallyBlocks(STEADY, cell), [
    // At 4.5, 4.6, 3, 4 (again) and 3.1 s; the first is served too late, the long one not.
    { offered: 4, missed: 2, attempts: 5, shed: 4 },
    { offered: 1, missed: 1, attempts: 3, shed: 1 },
  ]);
});

test('503s of an even share stay even where refused requests come back', () => {
  const seconds = Array.from({ length: 10 }, (_, second): Line => [second * 1_000 + 1, 'shed', null]);
  const again = shedDeviation(
    STEADY,
    cellOf(
      STEADY,
      seconds,
      seconds.map(() => 1),
    ),
  );
  assert.equal(again, 0);
  // served at the second attempt: half of the attempts of every second but the first are refused
  const served = seconds.map(([at]): Line => [at, 'ok', 1_100]);
  const deviation = shedDeviation(
    STEADY,
    cellOf(
      STEADY,
      served,
      served.map(() => 1),
    ),
  );
  assert.ok(Math.abs(deviation - 0.15) < 1e-9, `${deviation}`);
});

test('recovery: from when on first tokens are in time, for 5 s in a row', () => {
  const at = (second: number): Line[] =>
    Array.from({ length: 30 }, (_, i): Line => [i * 1_000, 'ok', i < second ? 3_000 : 100]);
  assert.equal(recoverySeconds(OVERLOAD, cellOf(OVERLOAD, at(0))), 0);
  assert.equal(recoverySeconds(OVERLOAD, cellOf(OVERLOAD, at(17))), 7);
  assert.equal(recoverySeconds(OVERLOAD, cellOf(OVERLOAD, at(25))), 15);
  assert.equal(recoverySeconds(OVERLOAD, cellOf(OVERLOAD, at(26))), Infinity);
  assert.equal(recoverySeconds(STEADY, cellOf(STEADY, at(0))), undefined);
});

test('a fall that is too short for a recovery of that long shows none', () => {
  assert.ok(showsRecovery(OVERLOAD, 15));
  assert.ok(!showsRecovery(OVERLOAD, 16));
});

function scenarioOf(stretches: Scenario['stretches']): Scenario {
  return { name: 'made', title: 'made', backends: 2, stay: 'short', warmUpSeconds: 1, stretches };
}

function cellOf(scenario: Scenario, lines: readonly Line[], retried?: readonly (0 | 1)[]): CellResult {
  const requests = {
    atMs: lines.map(([atMs]) => atMs),
    long: lines.map(([, , , long]) => long ?? 0),
    outcome: lines.map(([, outcome]) => outcome),
    firstTokenMs: lines.map(([, , firstTokenMs]) => firstTokenMs),
    endMs: lines.map(([, outcome, firstTokenMs]) =>
      outcome === 'unfinished' || firstTokenMs === null ? null : firstTokenMs + 500,
    ),
    backend: lines.map(() => 0),
    ...(retried && { retried }),
  };
  const spec = { scenario, arm: 'adaptive', sidecars: 4, seed: 1, rateFactor: 1 } as const;
  return syntheticCell(spec, { changes: { requests } });
}

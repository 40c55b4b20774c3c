import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { ArmName, CellResult, Scenario } from '../../../bench/routing/model.ts';
import { type Ask, GOALS, type Goal } from '../../../bench/routing/goals.ts';
import { judge, type Verdict } from '../../../bench/routing/judge.ts';
import type { Row } from '../../../bench/routing/row.ts';
import { SCENARIOS } from '../../../bench/routing/scenarios.ts';
import { syntheticCell } from './synthetic-cell.ts';

type Character = Parameters<typeof syntheticCell>[1];

test('every goal is of rows that the bench plays', () => {
  for (const { scenario, sidecars, arm, against } of GOALS)
    for (const row of [{ scenario, arm }, ...(against ? [against] : [])]) {
      const played = SCENARIOS.find(({ name }) => name === row.scenario)!;
      assert.ok(played.arms?.includes(row.arm), `${row.scenario}, ${row.arm}`);
      assert.ok(played.sidecars?.includes(sidecars), `${row.scenario}, ${sidecars} sidecars`);
    }
});

test('the goals hold for long stays too', () => {
  const short = GOALS.filter(({ area, scenario }) => area === 'overload' && !scenario.endsWith('-long'));
  const long = GOALS.filter(({ area, scenario }) => area === 'overload' && scenario.endsWith('-long'));
  assert.equal(short.length, 6);
  assert.equal(long.length, 6);
  for (const { scenario, against } of long) assert.equal(against?.scenario, scenario);
});

test('Interval 0.25 s is compared with 1 s of the same load, arm and stay', () => {
  const goals = GOALS.filter(({ area }) => area === 'Interval 0.25 s');
  assert.deepEqual(
    goals.map(({ scenario, against }) => [scenario, against]),
    [
      ['interval-250ms-0.95', { arm: 'adaptive', scenario: 'equal-0.95' }],
      ['interval-250ms-0.95-long', { arm: 'adaptive', scenario: 'equal-0.95-long' }],
    ],
  );
});

test('no 503 is asked of calm scenarios alone', () => {
  const names = GOALS.filter(({ ask }) => ask.kind === 'no-shedding').map(({ scenario }) => scenario);
  assert.ok(names.includes('equal-0.85') && names.includes('half-speed-0.8-long'));
  for (const name of names) assert.doesNotMatch(name, /burst|overload|0\.95/);
  assert.equal(new Set(names).size, names.length);
});

test('what is not measured is neither met nor missed', () => {
  const rows = [rowOf('equal-0.6', 'adaptive')];
  const statuses = judge(GOALS, rows).map(({ status }) => status);
  assert.equal(statuses.length, GOALS.length);
  assert.equal(statuses.filter((status) => status !== 'not measured').length, 1, 'no 503 at 0.6');
  assert.equal(judgeOf({ kind: 'misses', atMost: 1 }, {}, undefined).status, 'not measured');
});

test('misses against a rival', () => {
  const status = (ours: number, theirs: number): string =>
    judgeOf({ kind: 'misses', atMost: 0.6 }, { inTime: ours }, { inTime: theirs }).status;
  assert.equal(status(0.96, 0.9), 'met');
  assert.equal(status(0.93, 0.9), 'missed');
  assert.equal(status(0.9, 1), 'missed');
  const none = judgeOf({ kind: 'misses', atMost: 0.6 }, {}, {});
  assert.deepEqual([none.status, none.measured], ['met', 'no misses on either side']);
});

test('noise is a narrow interval around 0, better is one below', () => {
  const verdict = (ours: number, theirs: number): Verdict =>
    judgeOf({ kind: 'noise-or-better', widest: 0.02 }, { inTime: ours }, { inTime: theirs });
  assert.equal(verdict(0.99, 0.99).status, 'met');
  assert.equal(verdict(1, 0.7).status, 'met');
  assert.equal(verdict(0.9, 0.95).status, 'missed');
  assert.match(verdict(0.95, 0.99).measured, /^[\d.]+ \([\d.]+ to [\d.]+\) points$/);
});

test('an interval that holds 0 is noise only where it is narrow on both sides', () => {
  const cells = (ours: number, theirs: number): Verdict => {
    const later = (cell: CellResult): CellResult => {
      const late = cell.seed === 1 ? ours : theirs;
      const firstTokenMs = cell.requests.firstTokenMs.map((_, index) => (index % 100 < late ? 2_000 : 100));
      return cell.arm === 'adaptive' ? { ...cell, requests: { ...cell.requests, firstTokenMs } } : cell;
    };
    return judgeOf({ kind: 'noise-or-better', widest: 0.02 }, {}, { inTime: 0.9 }, later);
  };
  assert.equal(cells(10, 10).status, 'met', cells(10, 10).measured);
  // One seed far better, one as bad: the upper bound is within 2 points, the lower far from the value.
  const better = cells(0, 10);
  assert.deepEqual(
    [better.status, better.measured.endsWith(': too wide')],
    ['missed', true],
    better.measured,
  );
  const worse = cells(5, 20);
  assert.deepEqual([worse.status, worse.measured.endsWith(': too wide')], ['missed', true], worse.measured);
  assert.equal(cells(0, 0).status, 'met', 'wholly better');
});

test('noise needs an interval, and that two seeds', () => {
  const ask: Ask = { kind: 'noise-or-better', widest: 0.02 };
  const goal: Goal = { ...made(ask, 'equal-0.85'), against: { scenario: 'equal-0.85', arm: 'round-robin' } };
  const rows = (['adaptive', 'round-robin'] as const).map((arm) => {
    const row = rowOf('equal-0.85', arm);
    return { ...row, cells: row.cells.slice(0, 1) };
  });
  const [verdict] = judge([goal], rows);
  assert.equal(verdict!.status, 'not measured');
  assert.equal(verdict!.measured, '0.0 points, no interval');
});

test('goodput and first token in overload', () => {
  const ours = { shed: 0.4 };
  const goodput: Ask = { kind: 'goodput', atLeast: 2 };
  assert.equal(judgeOf(goodput, ours, { inTime: 0.2 }, undefined, 'overload-1.5').status, 'met');
  assert.equal(judgeOf(goodput, ours, { inTime: 0.5 }, undefined, 'overload-1.5').status, 'missed');
  const nothing = judgeOf(goodput, ours, { inTime: 0 }, undefined, 'overload-1.5');
  assert.equal(nothing.status, 'met');
  assert.match(nothing.measured, /^[56]\d\.\d against 0\.0 %$/);
  const first: Ask = { kind: 'first-token', quantile: 0.95, atMost: 0.5 };
  assert.equal(judgeOf(first, {}, { inTime: 0.5 }).status, 'met');
  assert.equal(judgeOf(first, {}, {}).status, 'missed');
});

test('the sawtooth and the flips against marks alone', () => {
  const flips: Ask = { kind: 'health-flips', atMost: 0.5 };
  const plane = { pushes: 1, delayP50: 0.01, delayP99: 0.02, cpuSeconds: 1 };
  const flipping = (one: number, other: number): Verdict =>
    judgeOf(flips, {}, {}, (cell) => ({
      ...cell,
      controlPlane: { ...plane, healthFlips: cell.arm === 'adaptive' ? one : other },
    }));
  assert.equal(flipping(10, 20).status, 'met');
  assert.equal(flipping(11, 20).status, 'missed');
  assert.match(flipping(11, 20).measured, /^0.55 \(11.0 against 20.0 a cell\)$/);
  assert.equal(judgeOf(flips, {}, {}).status, 'not measured', 'round robin has no flips');
});

test('recovery and delay are those of the worst seed', () => {
  const delays = [0.05, 0.151];
  const verdict = judgeAlone({ kind: 'delay', atMostSeconds: 0.15 }, 'hundred-0.2', (cell) => ({
    ...cell,
    controlPlane: { ...cell.controlPlane!, delayP99: delays[cell.seed - 1] ?? 0 },
  }));
  assert.deepEqual([verdict.status, verdict.measured], ['missed', '0.15 s']);
  const recovery = judgeAlone({ kind: 'recovery', atMostSeconds: 15 }, 'overload-1.5', (cell) => cell);
  assert.deepEqual([recovery.status, recovery.measured], ['met', '0 s']);
  const never = judgeAlone({ kind: 'recovery', atMostSeconds: 15 }, 'overload-1.5', (cell) => ({
    ...cell,
    requests: { ...cell.requests, firstTokenMs: cell.requests.firstTokenMs.map(() => 3_000) },
  }));
  assert.deepEqual([never.status, never.measured], ['missed', 'never']);
});

test('served shares against the published ones, within the error of the sample', () => {
  const shares = (published?: readonly number[]): Verdict =>
    judgeAlone({ kind: 'published-shares', standardErrors: 3 }, 'low-rate', (cell) => ({
      ...cell,
      spread: { ...cell.spread, ...(published && { published }) },
    }));
  const equal = Array.from({ length: 8 }, () => 1 / 8);
  assert.equal(shares(equal).status, 'met');
  assert.equal(shares([0.175, 0.075, ...equal.slice(2)]).status, 'missed');
  assert.equal(shares().status, 'not measured');
});

test('a single 503 breaks the calm', () => {
  const ask: Ask = { kind: 'no-shedding' };
  assert.equal(judgeAlone(ask, 'equal-0.85', (cell) => cell).status, 'met');
  const one = judgeAlone(ask, 'equal-0.85', (cell) => ({
    ...cell,
    requests: {
      ...cell.requests,
      outcome: cell.requests.outcome.map((outcome, i) => (i === 7 ? 'shed' : outcome)),
    },
  }));
  assert.equal(one.status, 'missed');
});

function made(ask: Ask, scenario: string): Goal {
  return { area: 'made', scenario, sidecars: 4, arm: 'adaptive', ask };
}

function judgeAlone(ask: Ask, scenario: string, change: (cell: CellResult) => CellResult): Verdict {
  return judge([made(ask, scenario)], [rowOf(scenario, 'adaptive', {}, change)])[0]!;
}

function judgeOf(
  ask: Ask,
  ours: Character,
  theirs: Character | undefined,
  change?: (cell: CellResult) => CellResult,
  scenario = 'equal-0.85',
): Verdict {
  const against = { scenario, arm: 'round-robin' } as const;
  const goal: Goal = { ...made(ask, scenario), against };
  const rows = [rowOf(scenario, 'adaptive', ours, change)];
  if (theirs !== undefined) rows.push(rowOf(scenario, 'round-robin', theirs, change));
  return judge([goal], rows)[0]!;
}

function rowOf(
  name: string,
  arm: ArmName,
  character: Character = {},
  change = (cell: CellResult): CellResult => cell,
): Row {
  const scenario: Scenario = SCENARIOS.find((each) => each.name === name)!;
  const cells = [1, 2].map((seed) =>
    change(syntheticCell({ scenario, arm, sidecars: 4, seed, rateFactor: 1 }, character)),
  );
  return { scenario, arm, sidecars: 4, cells, disturbed: [], products: ['made'] };
}

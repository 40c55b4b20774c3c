import type { Estimate } from './bootstrap.ts';
import { type Comparison, compare, compareFirstToken, shedShareOf } from './comparison.ts';
import type { Ask, Goal } from './goals.ts';
import { recoverySeconds, shedDeviation, showsRecovery } from './measures.ts';
import type { CellResult } from './model.ts';
import { number, percent, pointsWithInterval, ratio, ratioWithInterval, seconds } from './numerals.ts';
import { pairsOf, type Row } from './row.ts';
import { mean, ratioOf, sumOf } from './statistics.ts';

export type Status = 'met' | 'missed' | 'not measured';

export interface Verdict {
  readonly goal: Goal;
  readonly status: Status;
  /** What was asked, for people. */
  readonly asked: string;
  /** What came out, for people; empty when nothing was measured, else a goal that is not tells what is missing. */
  readonly measured: string;
  /** Of those seeds. */
  readonly seeds: readonly number[];
}

type Finding = Pick<Verdict, 'status' | 'measured'>;

/** A ratio from here on is no measure any more. */
const TELLING = 20;

export function judge(goals: readonly Goal[], rows: readonly Row[]): readonly Verdict[] {
  return goals.map((goal) => judgeOne(goal, rows));
}

/** What the ask wants, in a few words. */
export function describeAsk(ask: Ask): string {
  switch (ask.kind) {
    case 'noise-or-better':
      return `misses: noise (within ${percent(ask.widest)} points) or better`;
    case 'misses':
      return `misses at most ${ratio(ask.atMost)}`;
    case 'first-token':
      return `first-token p${ask.quantile * 100} at most ${ratio(ask.atMost)}`;
    case 'goodput':
      return `goodput at least ${ratio(ask.atLeast)}`;
    case 'shed-deviation':
      return `deviation of 503s at most ${ratio(ask.atMost)}`;
    case 'health-flips':
      return `health flips at most ${ratio(ask.atMost)}`;
    case 'recovery':
      return `in time again ${ask.atMostSeconds} s after the fall`;
    case 'no-shedding':
      return 'no 503';
    case 'delay':
      return `scrape to last ACK, p99, at most ${seconds(ask.atMostSeconds)} s`;
    case 'published-shares':
      return `served shares within ${ask.standardErrors} standard errors of the published`;
  }
}

function judgeOne(goal: Goal, rows: readonly Row[]): Verdict {
  const rowOf = (scenario: string, arm: string): Row | undefined =>
    rows.find((row) => row.scenario.name === scenario && row.arm === arm && row.sidecars === goal.sidecars);
  const row = rowOf(goal.scenario, goal.arm);
  const rival = goal.against && rowOf(goal.against.scenario, goal.against.arm);
  const asked = describeAsk(goal.ask);
  const found =
    row && (goal.against === undefined ? alone(goal.ask, row) : rival && beside(goal.ask, row, rival));
  if (row === undefined || found === undefined)
    return { goal, status: 'not measured', asked, measured: '', seeds: [] };
  const cells = rival === undefined ? row.cells : pairsOf(row, rival).map(([cell]) => cell);
  return { goal, ...found, asked, seeds: cells.map(({ seed }) => seed) };
}

function finding(met: boolean, measured: string): Finding {
  return { status: met ? 'met' : 'missed', measured };
}

/** Undefined: the rows do not tell. */
function beside(ask: Ask, row: Row, rival: Row): Finding | undefined {
  switch (ask.kind) {
    case 'noise-or-better': {
      const difference = compare(row, rival)?.missDifference;
      return difference && noiseOrBetter(difference, ask.widest);
    }
    case 'misses': {
      const comparison = compare(row, rival);
      return comparison && fewMisses(comparison, ask.atMost);
    }
    case 'first-token':
      return atMost(compareFirstToken(row, rival, ask.quantile), ask.atMost);
    case 'goodput': {
      const comparison = compare(row, rival);
      return comparison && muchGoodput(comparison, ask.atLeast);
    }
    case 'shed-deviation': {
      const points = (cell: CellResult, { scenario }: Row): number => 100 * shedDeviation(scenario, cell);
      return ofPairs(row, rival, ask.atMost, points, 'points');
    }
    case 'health-flips': {
      const flips = ({ controlPlane }: CellResult): number => controlPlane?.healthFlips ?? Number.NaN;
      return ofPairs(row, rival, ask.atMost, flips, 'a cell');
    }
    case 'recovery':
    case 'no-shedding':
    case 'delay':
    case 'published-shares':
      return undefined;
  }
}

function alone(ask: Ask, row: Row): Finding | undefined {
  if (row.cells.length === 0) return undefined;
  switch (ask.kind) {
    case 'recovery':
      if (!showsRecovery(row.scenario, ask.atMostSeconds)) return undefined;
      return worst(
        row.cells.map((cell) => recoverySeconds(row.scenario, cell)),
        ask.atMostSeconds,
        (value) => `${number(value, 0)} s`,
      );
    case 'delay':
      return worst(
        row.cells.map(({ controlPlane }) => controlPlane?.delayP99),
        ask.atMostSeconds,
        (value) => `${seconds(value)} s`,
      );
    case 'published-shares':
      return worst(
        [farthestShare(row.cells)],
        ask.standardErrors,
        (value) => `${ratio(value)} standard errors`,
      );
    case 'no-shedding': {
      const shed = shedShareOf(row)?.value ?? Number.NaN;
      if (shed === 0) return finding(true, 'none');
      return finding(false, shed < 0.0005 ? 'under 0.05 %' : `${percent(shed)} %`);
    }
    case 'noise-or-better':
    case 'misses':
    case 'first-token':
    case 'goodput':
    case 'shed-deviation':
    case 'health-flips':
      return undefined;
  }
}

/**
 * Better: all of the interval below 0. Noise: 0 in it, and no bound farther than `widest` from the value, since a wide
 * interval holds 0 whatever is true.
 */
function noiseOrBetter(difference: Estimate, widest: number): Finding {
  const { value, interval } = difference;
  const measured = pointsWithInterval(difference);
  if (interval === undefined) return { status: 'not measured', measured: `${measured}, no interval` };
  const { low, high } = interval;
  if (high < 0) return finding(true, measured);
  if (low > 0) return finding(false, measured);
  const narrow = Math.max(value - low, high - value) <= widest;
  return finding(narrow, narrow ? measured : `${measured}: too wide`);
}

/** Nothing is at most any part of nothing. */
function fewMisses({ missRatio, missed, rivalMissed }: Comparison, limit: number): Finding {
  if (missed === 0 && rivalMissed === 0) return finding(true, 'no misses on either side');
  return finding(missRatio.value <= limit, ratioWithInterval(missRatio));
}

/** With both shares where their ratio alone tells little: over almost nothing it is huge, whatever it is. */
function muchGoodput({ goodputRatio, goodput, rivalGoodput }: Comparison, limit: number): Finding {
  const { value } = goodputRatio;
  const shares = `${percent(goodput)} against ${percent(rivalGoodput)} %`;
  return finding(value >= limit, value < TELLING ? ratioWithInterval(goodputRatio) : shares);
}

function atMost(estimate: Estimate | undefined, limit: number): Finding | undefined {
  return estimate && finding(estimate.value <= limit, ratioWithInterval(estimate));
}

/** The mean over the pairs of cells against the mean of the others. */
function ofPairs(
  row: Row,
  rival: Row,
  limit: number,
  figure: (cell: CellResult, row: Row) => number,
  unit: string,
): Finding | undefined {
  const pairs = pairsOf(row, rival);
  const ours = mean(pairs.map(([cell]) => figure(cell, row)));
  const theirs = mean(pairs.map(([, cell]) => figure(cell, rival)));
  if (Number.isNaN(ours) || Number.isNaN(theirs)) return undefined;
  const value = ratioOf(ours, theirs);
  return finding(value <= limit, `${ratio(value)} (${number(ours, 1)} against ${number(theirs, 1)} ${unit})`);
}

function worst(
  values: readonly (number | null | undefined)[],
  limit: number,
  write: (value: number) => string,
): Finding | undefined {
  const known = values.filter((value) => value != null);
  if (known.length < values.length) return undefined;
  const value = Math.max(...known);
  return finding(value <= limit, Number.isFinite(value) ? write(value) : 'never');
}

/** How far the share that a backend answered is from the published one at most, in standard errors of that share. */
function farthestShare(cells: readonly CellResult[]): number | undefined {
  const counts = cells.map(({ requests }) => requests.backend.filter((backend) => backend !== null).length);
  const all = sumOf(counts);
  const pooled = (sharesOf: (cell: CellResult) => readonly number[] | undefined, backend: number): number =>
    sumOf(cells.map((cell, index) => (sharesOf(cell)?.[backend] ?? Number.NaN) * counts[index]!)) / all;
  const distances = (cells[0]?.spread.served ?? []).map((_, backend) => {
    const published = pooled(({ spread }) => spread.published, backend);
    const served = pooled(({ spread }) => spread.served, backend);
    return Math.abs(served - published) / Math.sqrt((published * (1 - published)) / all);
  });
  const farthest = Math.max(...distances);
  return distances.length === 0 || Number.isNaN(farthest) ? undefined : farthest;
}

import { bootstrap, type Estimate } from './bootstrap.ts';
import { firstTokenTimes, type Tally, tallyBlocks, type Time } from './measures.ts';
import type { CellResult, Scenario } from './model.ts';
import { pairsOf, type Row } from './row.ts';
import { ratioOf, sumOf } from './statistics.ts';

/** One row against another, over the seeds that both have. Shares are of all offered requests. */
export interface Comparison {
  readonly seeds: readonly number[];
  /** Requests that missed their SLO. */
  readonly missed: number;
  readonly rivalMissed: number;
  /** Share in time. */
  readonly goodput: number;
  readonly rivalGoodput: number;
  /** Share of the misses minus the rival's. */
  readonly missDifference: Estimate;
  readonly missRatio: Estimate;
  readonly goodputRatio: Estimate;
}

/** A part of what is counted in a {@link Tally}. */
interface Share {
  readonly part: (tally: Tally) => number;
  readonly of: (tally: Tally) => number;
}

const MISSED: Share = { part: ({ missed }) => missed, of: ({ offered }) => offered };
const GOOD: Share = { part: ({ offered, missed }) => offered - missed, of: ({ offered }) => offered };
const SHED: Share = { part: ({ shed }) => shed, of: ({ attempts }) => attempts };

/** Share of offered requests with their first token in time; undefined without a cell. */
export function goodputOf(row: Row): Estimate | undefined {
  return shareOf(row, GOOD);
}

/** Share of 503s of all attempts; undefined without a cell. */
export function shedShareOf(row: Row): Estimate | undefined {
  return shareOf(row, SHED);
}

/** Undefined where no seed is in both. */
export function compare(row: Row, rival: Row): Comparison | undefined {
  const pairs = pairsOf(row, rival);
  if (pairs.length === 0) return undefined;
  const blocks = pairs.map((pair) => pairedBlocks(row.scenario, rival.scenario, pair));
  const ours = blocks.flatMap(([tallies]) => tallies);
  const theirs = blocks.flatMap(([, tallies]) => tallies);
  const figure = (share: Share, of: (our: number, their: number) => number): Estimate =>
    bootstrap(
      blocks.map(([tallies]) => tallies.length),
      (times) => of(partOf(ours, share, times), partOf(theirs, share, times)),
    );
  return {
    seeds: pairs.map(([{ seed }]) => seed),
    missed: sumOf(ours.map(MISSED.part)),
    rivalMissed: sumOf(theirs.map(MISSED.part)),
    goodput: partOf(ours, GOOD),
    rivalGoodput: partOf(theirs, GOOD),
    missDifference: figure(MISSED, (our, their) => our - their),
    missRatio: figure(MISSED, ratioOf),
    goodputRatio: figure(GOOD, ratioOf),
  };
}

/** The quantile `q` of the time to the first token over the rival's in the same scenario; undefined without a pair. */
export function compareFirstToken(row: Row, rival: Row, q: number): Estimate | undefined {
  const pairs = pairsOf(row, rival);
  const [first] = pairs;
  if (first === undefined) return undefined;
  const blocks = tallyBlocks(row.scenario, first[0]).length;
  const ours = sortedTimes(
    row.scenario,
    pairs.map(([cell]) => cell),
    blocks,
  );
  const theirs = sortedTimes(
    rival.scenario,
    pairs.map(([, cell]) => cell),
    blocks,
  );
  return bootstrap(
    pairs.map(() => blocks),
    (times) => weightedQuantile(ours, q, times) / weightedQuantile(theirs, q, times),
  );
}

function shareOf(row: Row, share: Share): Estimate | undefined {
  if (row.cells.length === 0) return undefined;
  const blocks = row.cells.map((cell) => tallyBlocks(row.scenario, cell));
  const all = blocks.flat();
  return bootstrap(
    blocks.map(({ length }) => length),
    (times) => partOf(all, share, times),
  );
}

/** Scenarios that last differently are compared as long as both do. */
function pairedBlocks(
  scenario: Scenario,
  rivalScenario: Scenario,
  [cell, other]: readonly [CellResult, CellResult],
): readonly [ours: readonly Tally[], theirs: readonly Tally[]] {
  const [ours, theirs] = [tallyBlocks(scenario, cell), tallyBlocks(rivalScenario, other)];
  const both = Math.min(ours.length, theirs.length);
  return [ours.slice(0, both), theirs.slice(0, both)];
}

/** Of all blocks together, each counted as often as it was drawn, by default once. */
function partOf(tallies: readonly Tally[], share: Share, times?: readonly number[]): number {
  let [part, all] = [0, 0];
  for (const [index, tally] of tallies.entries()) {
    const drawn = times?.[index] ?? 1;
    part += drawn * share.part(tally);
    all += drawn * share.of(tally);
  }
  return part / all;
}

/** Of all cells, ascending, with their blocks numbered on from cell to cell. */
function sortedTimes(
  scenario: Scenario,
  cells: readonly CellResult[],
  blocksOfCell: number,
): readonly Time[] {
  return cells
    .flatMap((cell, index) =>
      firstTokenTimes(scenario, cell).map(({ ms, block }) => ({ ms, block: block + index * blocksOfCell })),
    )
    .toSorted((one, other) => (one.ms < other.ms ? -1 : Number(one.ms > other.ms)));
}

function weightedQuantile(sorted: readonly Time[], q: number, times: readonly number[]): number {
  const target = q * sumOf(sorted.map(({ block }) => times[block]!));
  let passed = 0;
  for (const { ms, block } of sorted) {
    passed += times[block]!;
    if (times[block]! > 0 && passed >= target) return ms;
  }
  return Number.NaN;
}

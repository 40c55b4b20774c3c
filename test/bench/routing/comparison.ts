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
  /** Share of the misses minus the rival's. */
  readonly missDifference: Estimate;
  readonly missRatio: Estimate;
  readonly goodputRatio: Estimate;
}

type Pick = (tally: Tally) => number;
const missed: Pick = (tally) => tally.missed;
const good: Pick = (tally) => tally.offered - tally.missed;
const shed: Pick = (tally) => tally.shed;

/** Share of offered requests with their first token in time; undefined without a cell. */
export function goodputOf(row: Row): Estimate | undefined {
  return shareOf(row, good);
}

export function shedShareOf(row: Row): Estimate | undefined {
  return shareOf(row, shed);
}

/** Undefined where no seed is in both. */
export function compare(row: Row, rival: Row): Comparison | undefined {
  const pairs = pairsOf(row, rival);
  if (pairs.length === 0) return undefined;
  const [ours, theirs] = pairedBlocks(row.scenario, rival.scenario, pairs);
  const figure = (of: (share: (tallies: readonly Tally[], pick: Pick) => number) => number): Estimate =>
    bootstrap(ours.length, (times) => of((tallies, pick) => share(tallies, pick, times)));
  return {
    seeds: pairs.map(([{ seed }]) => seed),
    missed: sumOf(ours.map(missed)),
    rivalMissed: sumOf(theirs.map(missed)),
    missDifference: figure((of) => of(ours, missed) - of(theirs, missed)),
    missRatio: figure((of) => ratioOf(of(ours, missed), of(theirs, missed))),
    goodputRatio: figure((of) => ratioOf(of(ours, good), of(theirs, good))),
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
    blocks * pairs.length,
    (times) => weightedQuantile(ours, q, times) / weightedQuantile(theirs, q, times),
  );
}

function shareOf(row: Row, pick: Pick): Estimate | undefined {
  if (row.cells.length === 0) return undefined;
  const blocks = row.cells.flatMap((cell) => tallyBlocks(row.scenario, cell));
  return bootstrap(blocks.length, (times) => share(blocks, pick, times));
}

/** Scenarios that last differently are compared as long as both do. */
function pairedBlocks(
  scenario: Scenario,
  rivalScenario: Scenario,
  pairs: readonly (readonly [CellResult, CellResult])[],
): readonly [ours: readonly Tally[], theirs: readonly Tally[]] {
  const sides = pairs.map(([cell, other]) => {
    const [ours, theirs] = [tallyBlocks(scenario, cell), tallyBlocks(rivalScenario, other)];
    const both = Math.min(ours.length, theirs.length);
    return [ours.slice(0, both), theirs.slice(0, both)] as const;
  });
  return [sides.flatMap(([ours]) => ours), sides.flatMap(([, theirs]) => theirs)];
}

/** Of all blocks together, each counted as often as it was drawn. */
function share(tallies: readonly Tally[], pick: Pick, times: readonly number[]): number {
  let [part, all] = [0, 0];
  for (const [index, tally] of tallies.entries()) {
    part += times[index]! * pick(tally);
    all += times[index]! * tally.offered;
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

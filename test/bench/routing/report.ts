import type { Estimate } from './bootstrap.ts';
import { type Comparison, compare, goodputOf, shedShareOf } from './comparison.ts';
import { GOALS } from './goals.ts';
import { judge, type Verdict } from './judge.ts';
import { endTimes, firstTokenTimes, recoverySeconds, shedDeviation, type Time } from './measures.ts';
import type { ArmName, CellResult, ControlPlaneFigures, Scenario } from './model.ts';
import type { Row } from './row.ts';
import { judgedSeconds } from './scenarios.ts';
import { mean, quantile, sumOf } from './statistics.ts';

/** Of a commit, as people read it. */
const COMMIT_DIGITS = 10;

/**
 * All that the bench has to say, as JSON and for the tables. Times in seconds; shares of offered requests, 0 to 1, but
 * those of 503s of all attempts.
 */
export interface Report {
  /** The version of the product that stands here, as arms of Plimsoll measure it; see `productVersion`. */
  readonly product: string;
  readonly commits: readonly string[];
  readonly cores: readonly number[];
  readonly scenarios: readonly ScenarioReport[];
  readonly goals: readonly Verdict[];
}

export interface ScenarioReport {
  readonly scenario: Scenario;
  readonly rows: readonly RowReport[];
}

export interface RowReport {
  readonly arm: ArmName;
  readonly sidecars: number;
  /** Of the cells that count. */
  readonly seeds: readonly number[];
  /** On the offered rate; below 1 where a disturbed cell was run again. */
  readonly rateFactors: readonly number[];
  /** Versions of the product other than the one that stands here that cells of the row measured. */
  readonly otherProducts: readonly string[];
  readonly disturbed: readonly { readonly seed: number; readonly reasons: readonly string[] }[];
  /** Absent where no cell counts. */
  readonly figures?: Figures;
}

/** Over all cells that count. Goodput, misses, times and 503s are those of the judged time, all else of the counted. */
export interface Figures {
  readonly offered: number;
  readonly goodput: Estimate;
  readonly againstRoundRobin?: Comparison;
  readonly againstLeastRequest?: Comparison;
  readonly firstToken: Quantiles;
  readonly end: Quantiles;
  readonly shed: Estimate;
  /** Of their share over the seconds, mean of the cells. */
  readonly shedDeviation: number;
  /** Answered with an error, or broken off. */
  readonly failed: number;
  readonly insideCv: number;
  /** After the fall of the load, the slowest seed; absent without a fall, infinite: not within the cell. */
  readonly recovery?: number;
  /** Processor seconds for 1,000 offered requests. */
  readonly envoyCpu: number;
  readonly controlPlane?: ControlPlaneReport;
}

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface ControlPlaneReport {
  readonly pushesPerMinute: number;
  readonly healthFlipsPerMinute: number;
  /** Mean of the cells' medians and the largest of their p99; absent where a cell has none. */
  readonly delay?: { readonly p50: number; readonly p99: number };
  /** Processor seconds for 1,000 offered requests. */
  readonly cpu: number;
}

/** @param productOf the version that an arm measures now */
export function reportOf(rows: readonly Row[], productOf: (arm: ArmName) => string): Report {
  const played = rows.filter(({ cells, disturbed }) => cells.length + disturbed.length > 0);
  const cells = played.flatMap((row) => [...row.cells, ...row.disturbed]);
  const scenarios = [...new Set(played.map(({ scenario }) => scenario))];
  return {
    product: productOf('adaptive'),
    commits: [...new Set(cells.map(commitText))],
    cores: [...new Set(cells.map(({ cores }) => cores))],
    scenarios: scenarios.map((scenario) => ({
      scenario,
      rows: played
        .filter((row) => row.scenario === scenario)
        .map((row) => rowReportOf(row, played, productOf(row.arm))),
    })),
    goals: judge(GOALS, played),
  };
}

function commitText({ commit, changed }: CellResult): string {
  return `${commit.slice(0, COMMIT_DIGITS)}${changed ? ' with changes' : ''}`;
}

/** As {@link JSON.stringify}, with infinite figures as the text `Infinity` and missing ones as null. */
export function reportToJson(report: Report): string {
  const replace = (_key: string, value: unknown): unknown =>
    value === Number.POSITIVE_INFINITY ? 'Infinity' : value;
  return `${JSON.stringify(report, replace, 2)}\n`;
}

function rowReportOf(row: Row, rows: readonly Row[], product: string): RowReport {
  const rivalOf = (arm: ArmName): Row | undefined =>
    row.arm === arm
      ? undefined
      : rows.find(
          (other) => other.scenario === row.scenario && other.sidecars === row.sidecars && other.arm === arm,
        );
  const figures = figuresOf(row, rivalOf('round-robin'), rivalOf('least-request'));
  return {
    arm: row.arm,
    sidecars: row.sidecars,
    seeds: row.cells.map(({ seed }) => seed),
    rateFactors: [...new Set(row.cells.map(({ rateFactor }) => rateFactor))],
    otherProducts: row.products.filter((other) => other !== product),
    disturbed: row.disturbed.map(({ seed, disturbances }) => ({ seed, reasons: disturbances })),
    ...(figures && { figures }),
  };
}

function figuresOf(row: Row, roundRobin?: Row, leastRequest?: Row): Figures | undefined {
  const { scenario, cells } = row;
  const goodput = goodputOf(row);
  const shed = shedShareOf(row);
  if (goodput === undefined || shed === undefined) return undefined;
  const againstRoundRobin = roundRobin && compare(row, roundRobin);
  const againstLeastRequest = leastRequest && compare(row, leastRequest);
  const recoveries = cells.flatMap((cell) => recoverySeconds(scenario, cell) ?? []);
  const controlPlane = controlPlaneOf(cells);
  return {
    offered: offeredIn(cells),
    goodput,
    ...(againstRoundRobin && { againstRoundRobin }),
    ...(againstLeastRequest && { againstLeastRequest }),
    firstToken: quantilesOf(cells.flatMap((cell) => firstTokenTimes(scenario, cell))),
    end: quantilesOf(cells.flatMap((cell) => endTimes(scenario, cell))),
    shed,
    shedDeviation: mean(cells.map((cell) => shedDeviation(scenario, cell))),
    failed: failedShare(scenario, cells),
    insideCv: mean(cells.map(({ spread }) => spread.insideCv)),
    ...(recoveries.length > 0 && { recovery: Math.max(...recoveries) }),
    envoyCpu: perThousand(sumOf(cells.map(({ envoyCpuSeconds }) => envoyCpuSeconds)), cells),
    ...(controlPlane && { controlPlane }),
  };
}

function controlPlaneOf(cells: readonly CellResult[]): ControlPlaneReport | undefined {
  const figures = cells.flatMap(({ controlPlane }) => controlPlane ?? []);
  if (figures.length < cells.length) return undefined;
  const minutes = sumOf(cells.map(({ seconds }) => seconds)) / 60;
  const delay = delayOf(figures);
  return {
    pushesPerMinute: sumOf(figures.map(({ pushes }) => pushes)) / minutes,
    healthFlipsPerMinute: sumOf(figures.map(({ healthFlips }) => healthFlips)) / minutes,
    ...(delay && { delay }),
    cpu: perThousand(sumOf(figures.map(({ cpuSeconds }) => cpuSeconds)), cells),
  };
}

function delayOf(figures: readonly ControlPlaneFigures[]): { p50: number; p99: number } | undefined {
  const p50 = figures.flatMap(({ delayP50 }) => delayP50 ?? []);
  const p99 = figures.flatMap(({ delayP99 }) => delayP99 ?? []);
  if (Math.min(p50.length, p99.length) < figures.length) return undefined;
  return { p50: mean(p50), p99: Math.max(...p99) };
}

function quantilesOf(times: readonly Time[]): Quantiles {
  const seconds = times.map(({ ms }) => ms / 1_000);
  return { p50: quantile(seconds, 0.5), p95: quantile(seconds, 0.95), p99: quantile(seconds, 0.99) };
}

function failedShare(scenario: Scenario, cells: readonly CellResult[]): number {
  const endMs = 1_000 * judgedSeconds(scenario);
  const outcomes = cells.flatMap(({ requests }) =>
    requests.outcome.filter((_, index) => requests.atMs[index]! < endMs),
  );
  return outcomes.filter((outcome) => outcome === 'failed').length / outcomes.length;
}

function perThousand(seconds: number, cells: readonly CellResult[]): number {
  return (1_000 * seconds) / offeredIn(cells);
}

function offeredIn(cells: readonly CellResult[]): number {
  return sumOf(cells.map(({ requests }) => requests.atMs.length));
}

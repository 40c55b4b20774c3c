import type { Cell, Measured, Round } from './cell.ts';

export type Figures = Readonly<Record<Figure, number>>;

export const FIGURES = [
  'cpuMsPerPush',
  'lastP50Ms',
  'lastP99Ms',
  'lastMaxMs',
  'anyP50Ms',
  'anyP99Ms',
  'idleBytes',
  'pushBytes',
  'stormCpuMs',
  'stormMs',
] as const;

export type Figure = (typeof FIGURES)[number];

export interface CellReport {
  readonly cell: Cell;
  readonly ours: Figures;
  readonly theirs: Figures | undefined;
  /** Ours against theirs. Of times to streams: of all rounds together; of the rest: the median of the rounds' ratios. */
  readonly ratios: Figures | undefined;
}

export function reportOf(cell: Cell, rounds: readonly Round[]): CellReport {
  const ours = figuresOf(rounds.map((round) => round.ours));
  const rivals = rounds.flatMap(({ theirs }) => theirs ?? []);
  if (rivals.length === 0) return { cell, ours, theirs: undefined, ratios: undefined };
  const theirs = figuresOf(rivals);
  const byRound = rounds.flatMap((round) =>
    round.theirs === undefined ? [] : [ratiosOf(figuresOf([round.ours]), figuresOf([round.theirs]))],
  );
  const medians = figures((figure) => median(byRound.map((ratios) => ratios[figure])));
  const pooled = ratiosOf(ours, theirs);
  const ratios = figures((figure) => (/^(last|any)/.test(figure) ? pooled[figure] : medians[figure]));
  return { cell, ours, theirs, ratios };
}

function figuresOf(measured: readonly Measured[]): Figures {
  const arrivals = measured.flatMap(({ arrivalsMs }) => arrivalsMs);
  const last = arrivals.map((times) => times.at(-1) ?? Number.NaN);
  const any = arrivals.flat();
  return {
    cpuMsPerPush: median(measured.map(({ cpuMs }) => mean(cpuMs))),
    lastP50Ms: quantile(last, 0.5),
    lastP99Ms: quantile(last, 0.99),
    lastMaxMs: quantile(last, 1),
    anyP50Ms: quantile(any, 0.5),
    anyP99Ms: quantile(any, 0.99),
    idleBytes: median(measured.map(({ memory }) => memory.idle)),
    pushBytes: median(measured.map(({ memory }) => memory.push)),
    stormCpuMs: median(measured.map(({ storm }) => storm.cpuMs)),
    stormMs: median(measured.map(({ storm }) => storm.lastMs)),
  };
}

function ratiosOf(ours: Figures, theirs: Figures): Figures {
  return figures((figure) => ours[figure] / theirs[figure]);
}

function figures(of: (figure: Figure) => number): Figures {
  return Object.fromEntries(FIGURES.map((figure) => [figure, of(figure)])) as Figures;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** By nearest rank: of fewer than 100 values the 0.99 quantile is the largest. */
function quantile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(rank * sorted.length) - 1)] ?? Number.NaN;
}

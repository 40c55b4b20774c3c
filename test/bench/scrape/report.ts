import type { Measured, Subject } from './measure.ts';

/** What all rounds with so many backends measured. */
export interface CellReport {
  readonly backends: number;
  readonly cpuSeconds: Readonly<Record<Subject, number | undefined>>;
  /** Of ours against Prometheus' full scrape: the median of the rounds. */
  readonly ratios: { readonly full: number; readonly lean: number } | undefined;
  readonly answerBytes: Readonly<Record<Subject, number | undefined>>;
  readonly collector: Readonly<Record<'full' | 'lean', NonNullable<Measured['collector']>>>;
}

export type Round = Readonly<Record<'full' | 'lean', Measured>> & {
  readonly prometheus: Measured | undefined;
};

export function reportOf(backends: number, rounds: readonly Round[]): CellReport {
  const each = (read: (of: Measured) => number): CellReport['cpuSeconds'] => ({
    full: median(rounds.map(({ full }) => read(full))),
    lean: median(rounds.map(({ lean }) => read(lean))),
    prometheus: medianOf(rounds.flatMap(({ prometheus }) => (prometheus ? read(prometheus) : []))),
  });
  const ratio = (variant: 'full' | 'lean'): readonly number[] =>
    rounds.flatMap((round) =>
      round.prometheus ? round[variant].cpuSeconds / round.prometheus.cpuSeconds : [],
    );
  const compared = rounds.some(({ prometheus }) => prometheus !== undefined);
  return {
    backends,
    cpuSeconds: each(({ cpuSeconds }) => cpuSeconds),
    ratios: compared ? { full: median(ratio('full')), lean: median(ratio('lean')) } : undefined,
    answerBytes: each(({ answerBytes }) => answerBytes),
    collector: { full: collectorOf(rounds, 'full'), lean: collectorOf(rounds, 'lean') },
  };
}

/** The median of each figure. */
function collectorOf(rounds: readonly Round[], variant: 'full' | 'lean'): NonNullable<Measured['collector']> {
  const all = rounds.flatMap((round) => round[variant].collector ?? []);
  const [first] = all;
  if (first === undefined) throw new Error('no round was measured');
  const names = Object.keys(first) as (keyof typeof first)[];
  return Object.fromEntries(
    names.map((name) => [name, median(all.map((figures) => figures[name]))]),
  ) as unknown as typeof first;
}

function medianOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : median(values);
}

/** By nearest rank. */
function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[(values.length - 1) >> 1] ?? Number.NaN;
}

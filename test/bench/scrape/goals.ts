import type { CellReport } from './report.ts';

/** What is aimed at. */
const GOALS = {
  fullRatio: 0.5,
  leanRatio: 0.1,
  kilobytesPerBackend: 50,
  loopDelayP99Ms: 50,
  /** Processor time of a scrape in the largest cell against that in the smallest. */
  growth: 1.5,
} as const;

/** One line for each goal, with the cells that it is judged by. */
export function judge(reports: readonly CellReport[]): readonly string[] {
  const each = (read: (of: CellReport) => number | undefined): readonly number[] =>
    reports.flatMap((report) => read(report) ?? []);
  const most = (variant: 'full' | 'lean', read: (of: CellReport['collector']['full']) => number): number =>
    Math.max(...reports.map(({ collector }) => read(collector[variant])));
  return [
    line(
      'a full scrape against one of Prometheus',
      each(({ ratios }) => ratios?.full),
      GOALS.fullRatio,
    ),
    line(
      'a lean scrape against a full one of Prometheus',
      each(({ ratios }) => ratios?.lean),
      GOALS.leanRatio,
    ),
    ...(['full', 'lean'] as const).flatMap((variant) => [
      line(
        `memory of a backend more, kB, ${variant}, from the smallest to the largest cell`,
        memory(reports, variant),
        GOALS.kilobytesPerBackend,
      ),
      line(
        `delay of the event loop, p99, ms, ${variant}`,
        [most(variant, ({ loopDelayP99Ms }) => loopDelayP99Ms)],
        GOALS.loopDelayP99Ms,
      ),
      line(
        `processor time of a scrape, ${variant}, largest against smallest cell`,
        growth(reports, variant),
        GOALS.growth,
      ),
    ]),
  ].filter((text) => text !== undefined);
}

function memory(reports: readonly CellReport[], variant: 'full' | 'lean'): readonly number[] {
  const [smallest] = reports;
  const largest = reports.at(-1);
  if (smallest === undefined || largest === undefined || smallest === largest) return [];
  const bytes = largest.collector[variant].residentBytes - smallest.collector[variant].residentBytes;
  return [bytes / 1000 / (largest.backends - smallest.backends)];
}

function growth(reports: readonly CellReport[], variant: 'full' | 'lean'): readonly number[] {
  const [smallest] = reports;
  const largest = reports.at(-1);
  if (smallest === undefined || largest === undefined || smallest === largest) return [];
  return [(largest.cpuSeconds[variant] ?? Number.NaN) / (smallest.cpuSeconds[variant] ?? Number.NaN)];
}

/** @returns undefined: it was not measured */
function line(what: string, values: readonly number[], goal: number): string | undefined {
  if (values.length === 0) return undefined;
  const judgement = values.every((value) => value <= goal) ? 'within' : 'MISSES';
  return `${what}: ${values.map((value) => value.toFixed(2)).join(', ')} ${judgement} ${goal}`;
}

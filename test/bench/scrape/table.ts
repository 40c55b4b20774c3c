import { formatTable } from '../../../src/demo/table.ts';
import type { Subject } from './measure.ts';
import type { CellReport } from './report.ts';

const HEADINGS = [
  '<backends',
  '<who, page',
  'answer, kB',
  'CPU s / 1,000',
  'of Prometheus',
  'gather p50, ms',
  'p99',
  'loop delay p99, ms',
  'max',
  'resident, MB',
] as const;

const NAMES: Readonly<Record<Subject, string>> = {
  full: 'plimsoll, full',
  lean: 'plimsoll, lean',
  prometheus: 'Prometheus, full',
};

/** One line for each subject of a cell. */
export function formatReports(reports: readonly CellReport[]): readonly string[] {
  const rows = reports.flatMap((report) => [
    ...(['full', 'lean'] as const).map((variant) => ours(report, variant)),
    ...theirs(report),
  ]);
  return formatTable(HEADINGS, rows);
}

function ours(report: CellReport, variant: 'full' | 'lean'): readonly string[] {
  const figures = report.collector[variant];
  return [
    ...head(report, variant),
    report.ratios === undefined ? '' : report.ratios[variant].toFixed(2),
    figures.gatherP50Ms.toFixed(0),
    figures.gatherP99Ms.toFixed(0),
    figures.loopDelayP99Ms.toFixed(1),
    figures.loopDelayMaxMs.toFixed(1),
    (figures.residentBytes / 1e6).toFixed(0),
  ];
}

function theirs(report: CellReport): readonly (readonly string[])[] {
  return report.cpuSeconds.prometheus === undefined ? [] : [head(report, 'prometheus')];
}

function head({ backends, answerBytes, cpuSeconds }: CellReport, subject: Subject): readonly string[] {
  const kilobytes = (answerBytes[subject] ?? Number.NaN) / 1000;
  return [
    String(backends),
    NAMES[subject],
    kilobytes.toFixed(1),
    (cpuSeconds[subject] ?? Number.NaN).toFixed(3),
  ];
}

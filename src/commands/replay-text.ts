import type { GroupReport } from '../replay/replay.ts';
import type { ShareFigures, SideFigures } from '../replay/tally.ts';
import { printable } from '../runtime/text.ts';
import { clockFace } from './duration.ts';
import { listed } from './listed.ts';
import { wrapped } from './wrapped.ts';

/** Must be said wherever something of a replay is shown. */
export const OPEN_LOOP =
  'Open loop: the samples are of the load that came of what was published. What other weights would have done to queues and latency is not in them, and nothing here foretells it.';

/**
 * A table for each group.
 * @param columns of the terminal: sentences are wrapped there, tables are not; undefined: nothing is
 */
export function replayText(
  reports: readonly GroupReport[],
  warnings: readonly string[],
  columns: number | undefined,
): string {
  const lines = [
    ...[...warnings.map((warning) => `Warning: ${warning}.`), OPEN_LOOP].flatMap((line) =>
      wrapped(line, columns),
    ),
    ...reports.flatMap((report) => ['', ...groupLines(report, columns)]),
  ];
  return `${lines.join('\n')}\n`;
}

function groupLines(report: GroupReport, columns: number | undefined): readonly string[] {
  const { serverGroup, evaluations, from, to, was, would, baseline } = report;
  // where it is what was published there is no more to see of it
  const apart = baseline?.identicalEvaluations === evaluations ? null : baseline;
  const rows = [
    [
      'backend',
      'was: share',
      'min..max',
      'saturated',
      ...(apart === null ? [] : ['as recorded']),
      'would be: share',
      'min..max',
      'saturated',
    ],
    ...report.backends.map((of, index) => [
      printable(of.backend),
      ...shareCells(of.was),
      ...(apart === null ? [] : [percent(apart.shares[index]?.mean ?? 0)]),
      ...shareCells(of.would),
    ]),
  ];
  const sides = [was, ...(apart === null ? [] : [apart.figures]), would];
  const totals = [
    ['', 'was', ...(apart === null ? [] : ['as recorded']), 'would have been'],
    ['pushes', ...sides.map(pushWords)],
    ['refused, mean and most', ...sides.map(refusedWords)],
    ['every backend saturated', ...sides.map((side) => percent(side.allSaturatedRatio))],
  ];
  return [
    `${printable(serverGroup)}: ${evaluations} evaluations, ${clockFace((to - from) / 1000)}`,
    ...noteLines(report).flatMap((line) => wrapped(line, columns)),
    '',
    ...table(rows),
    '',
    ...table(totals),
    '',
    ...verdictLines(report).flatMap((line) => wrapped(line, columns)),
  ];
}

function shareCells({ mean, min, max, saturatedRatio }: ShareFigures): readonly string[] {
  return [percent(mean), `${percent(min)}..${percent(max)}`, percent(saturatedRatio)];
}

function refusedWords({ refusedShare }: SideFigures): string {
  return `${percent(refusedShare.mean)}, ${percent(refusedShare.max)}`;
}

function pushWords({ pushes, pushesByReason }: SideFigures): string {
  const reasons = Object.entries(pushesByReason).map(([reason, count]) => `${reason} ${count}`);
  return reasons.length === 0 ? String(pushes) : `${pushes} (${reasons.join(', ')})`;
}

function noteLines(report: GroupReport): readonly string[] {
  const { unknownBackends, unrecordedBackends, warmUpEvaluations, missedEvaluations, observed } = report;
  const { recorded, wanted } = report.intervalSeconds;
  const longest = Math.max(...recorded);
  return [
    observed ? 'It was observed, at least for a time: what was are the configured weights.' : '',
    unknownBackends.length === 0
      ? ''
      : `Recorded, but not in the configuration, and left out: ${listed(unknownBackends)}.`,
    unrecordedBackends.length === 0
      ? ''
      : `In the configuration, but not recorded, and left out: ${listed(unrecordedBackends)}.`,
    warmUpEvaluations === 0
      ? ''
      : `What the control plane had learned when the recording began is not in it: ${warmUpEvaluations === 1 ? 'the first evaluation is' : `the first ${warmUpEvaluations} evaluations are`} not counted.`,
    missedEvaluations === 0 ? '' : `${missedEvaluations} evaluations are missing in gaps.`,
    wanted < longest
      ? `Interval ${wanted} s: samples are ${longest} s apart, and it is replayed with that.`
      : '',
  ].filter((text) => text !== '');
}

function verdictLines(report: GroupReport): readonly string[] {
  const { evaluations, identicalEvaluations: same, learningEvaluations: learning, movedShareRatio } = report;
  if (evaluations > 0 && same === evaluations) {
    return ['Exactly what was published: the same weights, health and refused share after each evaluation.'];
  }
  const stood = evaluations - learning;
  return [
    ...baselineLines(report),
    `On average ${percent(movedShareRatio)} of the requests would have gone elsewhere; after ${same} of ${evaluations} evaluations it is exactly what was published.`,
    ...(stood <= 0
      ? []
      : [
          `In ${stood} of ${evaluations} evaluations sidecars had clearly other weights than these, and so the load does not show what these would have done to it: learned capacities stand still there, and of the refused share only the first answer to the queues is told.`,
        ]),
  ];
}

/** What the change alone makes, apart from what a recording lacks. */
function baselineLines({ baseline, evaluations }: GroupReport): readonly string[] {
  if (baseline === null) {
    return [
      'What was configured then is not all known to this version: there is nothing to compare the change with.',
    ];
  }
  const {
    identicalEvaluations: same,
    movedShareRatio,
    changedIdenticalEvaluations,
    changedShareRatio,
  } = baseline;
  const before =
    same === evaluations
      ? 'As recorded: the configuration of then, on the same samples, comes to exactly what was published.'
      : `As recorded: the configuration of then, on the same samples, sends ${percent(movedShareRatio)} of the requests elsewhere than was published; after ${same} of ${evaluations} evaluations exactly the same.`;
  const change =
    changedIdenticalEvaluations === evaluations
      ? 'Between that and this configuration there is no difference.'
      : `Between that and this configuration: ${percent(changedShareRatio)} of the requests. That is what the change makes.`;
  return [before, change];
}

/** The first column to the left, the others to the right. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((most, row) => Math.max(most, (row[column] ?? '').length), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

import type { GroupReport } from '../replay/replay.ts';
import type { ShareFigures, SideFigures } from '../replay/tally.ts';
import { printable } from '../runtime/text.ts';
import { clockFace } from './duration.ts';
import { listed } from './listed.ts';

/** Must be said wherever something of a replay is shown. */
export const OPEN_LOOP =
  'Open loop: the samples are of the load that came of what was published. What other weights would have done to queues and latency is not in them, and nothing here foretells it.';

/** A table for each group. */
export function replayText(reports: readonly GroupReport[], warnings: readonly string[]): string {
  const lines = [
    ...warnings.map((warning) => `Warning: ${warning}.`),
    OPEN_LOOP,
    ...reports.flatMap((report) => ['', ...groupLines(report)]),
  ];
  return `${lines.join('\n')}\n`;
}

function groupLines(report: GroupReport): readonly string[] {
  const { serverGroup, evaluations, from, to, was, would } = report;
  const rows = [
    ['backend', 'was: share', 'min..max', 'saturated', 'would be: share', 'min..max', 'saturated'],
    ...report.backends.map((of) => [printable(of.backend), ...shareCells(of.was), ...shareCells(of.would)]),
  ];
  const totals = [
    ['', 'was', 'would have been'],
    ['pushes', pushWords(was), pushWords(would)],
    ['refused, mean and most', refusedWords(was), refusedWords(would)],
    ['every backend saturated', percent(was.allSaturatedRatio), percent(would.allSaturatedRatio)],
  ];
  return [
    `${printable(serverGroup)}: ${evaluations} evaluations, ${clockFace((to - from) / 1000)}`,
    ...noteLines(report),
    '',
    ...table(rows),
    '',
    ...table(totals),
    '',
    ...verdictLines(report),
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
      : `What the control plane had learned when the recording began is not in it: the first ${warmUpEvaluations} evaluations are not counted.`,
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
    `On average ${percent(movedShareRatio)} of the requests would have gone elsewhere; after ${same} of ${evaluations} evaluations it is exactly what was published.`,
    ...(stood <= 0
      ? []
      : [
          `In ${stood} of them the samples do not answer to these weights: learned capacities stand still, and of the refused share only the first answer to the queues is told.`,
        ]),
  ];
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

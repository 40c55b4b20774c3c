import type { BackendExplanation, GroupExplanation } from '../admin/explanation.ts';
import { backendLines } from '../admin/words/explain-backend.ts';
import { groupLines } from '../admin/words/explain-group.ts';
import { figure, percent } from '../admin/words/figures.ts';
import { wrapped } from './wrapped.ts';

/** More backends get a line each. */
const FULL_MAX = 16;

const BOLD = '\u001b[1m';
const RED = '\u001b[31m';
const YELLOW = '\u001b[33m';
const PLAIN = '\u001b[0m';

export interface ExplainStyle {
  /** With the arithmetic of every backend, however many there are. */
  readonly full: boolean;
  readonly color: boolean;
  /** Of the terminal: sentences are wrapped there, tables are not; undefined: nothing is. */
  readonly columns: number | undefined;
}

/** What an operator reads: the group, then its backends, the largest share first. */
export function explainText(explanation: GroupExplanation, { full, color, columns }: ExplainStyle): string {
  const backends = explanation.published.decision.backends.toSorted((a, b) => b.shareRatio - a.shareRatio);
  const isFull = full || backends.length <= FULL_MAX;
  const wrap = (line: string): readonly string[] => {
    const style = color ? styleOf(line) : '';
    return wrapped(line, columns).map((part) => (style === '' ? part : style + part + PLAIN));
  };
  const lines = [
    ...[...groupLines(explanation), ''].flatMap(wrap),
    ...(isFull
      ? inFull(explanation, backends).flatMap(wrap)
      : inShort(explanation, backends).map((line) => (color ? colored(line) : line))),
  ];
  return `${lines.join('\n')}\n`;
}

function inFull({ published, newest }: GroupExplanation, backends: readonly BackendExplanation[]) {
  const newer = new Map(newest?.decision.backends.map((of) => [of.backend, of]));
  return backends.flatMap((of, index) => {
    const [heading = '', ...sentences] = backendLines(of, published.decision, newer.get(of.backend));
    return [...(index === 0 ? [] : ['']), heading, ...sentences.map((sentence) => `  ${sentence}`)];
  });
}

const COLUMNS = ['BACKEND', 'HEALTH', 'SHARE', 'WEIGHT', 'CONFIGURED × CAPACITY × LOAD', 'WHY'] as const;

function inShort({ serverGroup }: GroupExplanation, backends: readonly BackendExplanation[]) {
  const rows = [COLUMNS, ...backends.map(rowOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const [first] = backends;
  const hint = `With the arithmetic of one: plimsoll explain ${serverGroup} ${first?.backend ?? 'BACKEND'}`;
  return [...lines, '', hint];
}

function rowOf(of: BackendExplanation): readonly string[] {
  const { backend, health, shareRatio, weight, configuredShare, capacity, loadFactor, prompts, reasons } = of;
  const factors = [configuredShare, capacity, loadFactor, ...(prompts === null ? [] : [prompts.freeRatio])];
  const product = factors.map((factor) => figure(factor)).join(' × ');
  return [backend, health ?? 'ABSENT', percent(shareRatio), figure(weight), product, reasons.join('; ')];
}

function colored(line: string): string {
  const style = styleOf(line);
  return style === '' ? line : style + line + PLAIN;
}

/** Empty: none. */
function styleOf(line: string): string {
  if (line.startsWith('Warning:')) return YELLOW;
  if (line.includes('UNHEALTHY')) return RED;
  return /^\S+: /.test(line) ? BOLD : '';
}

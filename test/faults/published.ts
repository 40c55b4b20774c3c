import type { Played } from './measured.ts';
import type { Failure, Row } from './model.ts';

const HEAD = [
  '| fault | fails by the fault itself | by Plimsoll | noticed after | recovered after |',
  '|---|---|---|---|---|',
];

/**
 * The page for operators with the lines of the rows that were played now; the others stay as they are, those of rows that
 * are no more go.
 * @param page with a table that has {@link HEAD}
 * @param rows all of the table, in its order
 * @throws Error when the page has no such table
 */
export function publish(page: string, rows: readonly Row[], played: readonly Played[]): string {
  const lines = page.split('\n');
  const begin = lines.indexOf(HEAD[0] ?? '');
  if (begin < 0) throw new Error(`no line ${HEAD[0]}`);
  const size = lines.slice(begin).findIndex((line) => !line.startsWith('|'));
  const end = size < 0 ? lines.length : begin + size;
  const known = new Map(lines.slice(begin + HEAD.length, end).map((line) => [keyIn(line), line]));
  for (const one of played) known.set(keyOf(one.row), publishedLine(one));
  const table = rows.flatMap((row) => known.get(keyOf(row)) ?? []);
  return [...lines.slice(0, begin), ...HEAD, ...table, ...lines.slice(end)].join('\n');
}

/** How the line of a row begins. */
export function keyOf({ part, name, happens }: Row): string {
  return `**${part}: ${name}.** ${sentence(happens)}`.replaceAll('|', '\\|');
}

function keyIn(line: string): string {
  return line.slice(2, line.indexOf(' | ', 2));
}

function publishedLine({ row, measured, broken }: Played): string {
  if (measured === undefined || broken.length > 0) return `| ${keyOf(row)} | not held | | | |`;
  const { own, ours, requests, noticedSeconds, recoveredSeconds } = measured;
  const cells = [
    keyOf(row),
    own.length === 0 ? `none of ${requests}` : `${kindsOf(own)} of ${requests}`,
    ours.length === 0 ? 'none' : String(ours.length),
    timeOf(noticedSeconds, row.notice?.withinSeconds),
    timeOf(recoveredSeconds, row.recover.withinSeconds),
  ];
  return `| ${cells.join(' | ')} |`;
}

const KINDS: Readonly<Record<Failure['kind'], string>> = {
  shed: 'refused',
  unavailable: 'answered 503',
  status: 'answered with an error',
  broken: 'cut off',
  timeout: 'unanswered',
  wrong: 'answered wrong',
};

function kindsOf(failures: readonly Failure[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of failures) counts.set(KINDS[kind], (counts.get(KINDS[kind]) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
}

function timeOf(seconds: number | undefined, limit: number | undefined): string {
  return seconds === undefined ? '–' : `${seconds.toFixed(1)} s (${limit ?? ''})`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

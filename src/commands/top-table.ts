import { age, integer, percent, score } from '../admin/page/cells.ts';
import type { Row } from '../admin/page/rows.ts';
import type { Sorting, SortKey } from '../admin/page/sort-rows.ts';

interface Column {
  readonly key: SortKey;
  readonly heading: string;
  /** Text stands to the left, figures to the right. */
  readonly isText: boolean;
  readonly cell: (row: Row) => string;
  /** The one with the highest goes first where there is no room. */
  readonly dispensable: number;
}

const COLUMNS: readonly Column[] = [
  { key: 'backend', heading: 'BACKEND', isText: true, cell: ({ id }) => id, dispensable: 0 },
  { key: 'health', heading: 'HEALTH', isText: true, cell: ({ state }) => state, dispensable: 1 },
  { key: 'share', heading: 'SHARE', isText: false, cell: (row) => percent(row.share), dispensable: 2 },
  { key: 'inside', heading: 'INSIDE', isText: false, cell: (row) => integer(row.inside), dispensable: 3 },
  { key: 'queued', heading: 'QUEUED', isText: false, cell: (row) => integer(row.queued), dispensable: 4 },
  { key: 'running', heading: 'RUNNING', isText: false, cell: (row) => integer(row.running), dispensable: 6 },
  { key: 'kvCache', heading: 'KV', isText: false, cell: (row) => percent(row.kvCache, 0), dispensable: 5 },
  { key: 'weight', heading: 'WEIGHT', isText: false, cell: (row) => integer(row.weight), dispensable: 8 },
  { key: 'score', heading: 'SCORE', isText: false, cell: (row) => score(row.score), dispensable: 9 },
  { key: 'age', heading: 'AGE', isText: false, cell: (row) => age(row.sampleAgeSeconds), dispensable: 7 },
  { key: 'failure', heading: 'WHY, AND THE LAST FAILURE', isText: true, cell: noteOf, dispensable: 10 },
];

const GAP = '  ';
/** What is left of the last column is not worth showing below this. */
const NOTE_MIN = 12;

/** A heading and a line for each row, as wide as `width` lets them be; less important columns make room. */
export function backendTable(
  rows: readonly Row[],
  sorting: Sorting,
  width: number,
): { readonly heading: string; readonly lines: readonly string[] } {
  const cells = new Map(
    COLUMNS.map((column) => [column, [headingOf(column, sorting), ...rows.map(column.cell)]] as const),
  );
  const widths = new Map(
    COLUMNS.map((column) => [
      column,
      (cells.get(column) ?? []).reduce((most, cell) => Math.max(most, Array.from(cell).length), 0),
    ]),
  );
  const shown = fitting(widths, width);
  const lines = ['', ...rows].map((_, index) =>
    shown
      .map((column) => padded(cells.get(column)?.[index] ?? '', widths.get(column) ?? 0, column.isText))
      .join(GAP)
      .trimEnd(),
  );
  const [heading = '', ...rest] = lines;
  return { heading, lines: rest };
}

/** The columns that there is room for; the last one may be cut. */
function fitting(widths: ReadonlyMap<Column, number>, width: number): readonly Column[] {
  let shown = [...COLUMNS];
  const taken = (): number =>
    shown.reduce((sum, column) => {
      const own = widths.get(column) ?? 0;
      return sum + GAP.length + (column === COLUMNS.at(-1) ? Math.min(own, NOTE_MIN) : own);
    }, -GAP.length);
  while (taken() > width && shown.length > 1) {
    const worst = shown.reduce((a, b) => (a.dispensable > b.dispensable ? a : b));
    shown = shown.filter((column) => column !== worst);
  }
  return shown;
}

function headingOf({ key, heading }: Column, sorting: Sorting): string {
  if (key !== sorting.key) return heading;
  return `${heading}${sorting.descending ? '↓' : '↑'}`;
}

function padded(text: string, width: number, isText: boolean): string {
  const room = ' '.repeat(Math.max(0, width - Array.from(text).length));
  return isText ? text + room : room + text;
}

function noteOf({ why, failure, failedSecondsAgo, missed }: Row): string {
  if (why !== null) return why;
  if (failure === null || failedSecondsAgo === null) return '';
  return missed > 0 ? failure : `answers again; ${age(failedSecondsAgo)} ago: ${failure}`;
}

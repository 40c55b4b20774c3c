import type { Row, RowState } from './rows.ts';

export const SORT_KEYS = [
  'backend',
  'health',
  'inside',
  'queued',
  'running',
  'kvCache',
  'weight',
  'share',
  'score',
  'age',
  'failure',
] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export interface Sorting {
  readonly key: SortKey;
  readonly descending: boolean;
}

/** Who has the most is on top. */
export const FIRST_SORTING: Sorting = { key: 'inside', descending: true };

/** What needs attention first. */
const STATE_ORDER: readonly RowState[] = ['unhealthy', 'silent', 'draining', 'out', 'healthy'];
/** The first sorting of these is upwards. */
const UPWARDS: readonly SortKey[] = ['backend', 'health', 'failure'];

const names = new Intl.Collator('en', { numeric: true });

/** The order that a click on a column's heading asks for. */
export function nextSorting(now: Sorting, key: SortKey): Sorting {
  if (now.key === key) return { key, descending: !now.descending };
  return { key, descending: !UPWARDS.includes(key) };
}

/** Sorted; what is not known comes last, and equal ones in the order of the configuration. */
export function sortRows(rows: readonly Row[], { key, descending }: Sorting): readonly Row[] {
  const sign = descending ? -1 : 1;
  if (key === 'backend') {
    return rows.toSorted((a, b) => sign * names.compare(a.id, b.id) || a.index - b.index);
  }
  const values = new Map(rows.map((row) => [row, valueOf(row, key)]));
  return rows.toSorted((a, b) => {
    const [one, other] = [values.get(a) ?? null, values.get(b) ?? null];
    if (one === null || other === null)
      return Number(one === null) - Number(other === null) || a.index - b.index;
    return sign * (one - other) || a.index - b.index;
  });
}

function valueOf(row: Row, key: Exclude<SortKey, 'backend'>): number | null {
  switch (key) {
    case 'health':
      return STATE_ORDER.indexOf(row.state);
    case 'age':
      return row.sampleAgeSeconds;
    case 'failure':
      return row.failedSecondsAgo;
    case 'inside':
    case 'queued':
    case 'running':
    case 'kvCache':
    case 'weight':
    case 'share':
    case 'score':
      return row[key];
  }
}

/** The rows in the order of these ids; those that are not in it come last. */
export function inOrder(rows: readonly Row[], ids: readonly string[]): readonly Row[] {
  const places = new Map(ids.map((id, place) => [id, place]));
  const placeOf = ({ id, index }: Row): number => places.get(id) ?? ids.length + index;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}

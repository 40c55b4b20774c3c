import { rowsOf } from '../admin/page/rows.ts';
import { FIRST_SORTING, sortRows } from '../admin/page/sort-rows.ts';
import type { State } from '../admin/state-shape.ts';
import { wrapped } from '../runtime/wrap.ts';
import { warningLines } from './top-screen.ts';
import { backendTable } from './top-table.ts';
import { groupLines, headParts, sidecarLines } from './top-text.ts';

/** Lines for a pipe or a file are as long as they have to be. */
const WIDTH = Number.POSITIVE_INFINITY;

/** All that is known, as text. */
export function topText(state: State): string {
  const { now } = state;
  const groups = state.groups.flatMap((group) => {
    const rows = sortRows(rowsOf(group, now), FIRST_SORTING);
    const { heading, lines } = backendTable(rows, FIRST_SORTING, WIDTH);
    return ['', ...groupLines(group, now, WIDTH), '', heading, ...lines];
  });
  const lines = [
    ...wrapped(headParts(state, now), WIDTH),
    '',
    ...warningLines(state),
    ...groups,
    '',
    ...sidecarLines(state, now),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** The same as JSON: each backend an object with the names of its columns. */
export function topJson(state: State): string {
  const groups = state.groups.map(({ rows, backends, ...group }) => ({
    ...group,
    backends: backends.map(([id, configuredWeight], index) => ({
      id,
      configuredWeight,
      ...Object.fromEntries(state.columns.map((column, place) => [column, rows[index]?.[place] ?? null])),
    })),
  }));
  const { columns: _, ...rest } = state;
  return `${JSON.stringify({ ...rest, groups }, null, 2)}\n`;
}

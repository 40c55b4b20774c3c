import { filterRows } from '../admin/page/filter-rows.ts';
import { allWarnings } from '../admin/page/group-summary.ts';
import { rowsOf } from '../admin/page/rows.ts';
import { sortRows } from '../admin/page/sort-rows.ts';
import type { GroupState, State } from '../admin/state-shape.ts';
import { cut } from '../runtime/cut.ts';
import { folded, wrapped } from '../runtime/wrap.ts';
import type { FeedView } from './top-feed.ts';
import type { TopModel } from './top-model.ts';
import { backendTable } from './top-table.ts';
import { groupLines, headParts, sidecarLines } from './top-text.ts';

const BOLD = '\u001b[1m';
const RED = '\u001b[31m';
const YELLOW = '\u001b[33m';
const INVERSE = '\u001b[7m';
const PLAIN = '\u001b[0m';

const WARNINGS_ABOVE = 2;
/** Of the table, even on a small screen; at most half of it. */
const TABLE_LINES_MIN = 4;
/** For how long it is said that another process has taken the place of the one before. */
const RESTART_TOLD_MS = 30_000;

const HELP = [
  'b backends   s sidecars   w warnings with what to do   ? this help   q quit',
  's, w or ? once more leads back, as b does',
  'tab, shift-tab   the next server group, the one before',
  '← →   sort by another column        r   the other way round',
  '/   filter: words of name, health, reason or failure; enter keeps it, escape ends it',
  '↑ ↓ page-up page-down home   scroll',
  '',
  'SHARE   expected part of new requests, by the published weights',
  'INSIDE  queued and running requests',
  'KV      utilisation of the KV cache',
  'SCORE   0..100 by the scorers: 100 is the best in everything',
  'AGE     of the last sample',
  '',
  'plimsoll explain GROUP BACKEND says how a weight comes about.',
];

export interface TopSize {
  readonly columns: number;
  readonly rows: number;
}

export interface TopScene {
  readonly view: FeedView;
  readonly model: TopModel;
  /** By the clock of this process. */
  readonly nowMs: number;
  /** Where it asks, for people. */
  readonly admin: string;
}

/** How many lines of a table such a screen has, about. */
export function tableLines({ rows }: TopSize): number {
  return Math.max(1, rows - 8);
}

/** Exactly as many lines as the screen has. */
export function topScreen(scene: TopScene, size: TopSize, color: boolean): readonly string[] {
  const paint = (code: string, text: string): string => (color ? `${code}${text}${PLAIN}` : text);
  const head = [...headLines(scene, size, paint)];
  const { state } = scene.view;
  const { fixed, table } = state === undefined ? NOTHING : bodyOf(scene, state, size, paint);
  const least = Math.min(table.length, size.rows >> 1, TABLE_LINES_MIN);
  const above = aboveTable(head, fixed, size.rows - 1 - least);
  const room = Math.max(0, size.rows - above.length - 1);
  const from = Math.max(0, Math.min(scene.model.scroll, table.length - room));
  const lines = [...above, ...table.slice(from, from + room)].slice(0, size.rows - 1);
  while (lines.length < size.rows - 1) lines.push('');
  lines.push(paint(INVERSE, footer(scene, size, from, room, table.length)));
  return lines.map((line) => cut(line, size.columns));
}

/** On a small screen first what is said of the group makes room for its table, then the end of the head. */
function aboveTable(head: readonly string[], fixed: readonly string[], most: number): readonly string[] {
  if (head.length + fixed.length <= most) return [...head, ...fixed];
  const [heading = ''] = fixed.slice(-1);
  return [...head.slice(0, Math.max(1, most - 1)), heading];
}

/** What is shown below the head. */
interface Body {
  /** Stays where it is. */
  readonly fixed: readonly string[];
  /** Can be scrolled. */
  readonly table: readonly string[];
}

const NOTHING: Body = { fixed: [], table: [] };

type Paint = (code: string, text: string) => string;

function* headLines(scene: TopScene, size: TopSize, paint: Paint): Generator<string> {
  const { view, model, nowMs } = scene;
  const { state, status, restartedAtMs } = view;
  yield* statusLines(scene, size, paint);
  const parts = state === undefined ? [] : headParts(state, serverNow(scene));
  for (const line of wrapped(parts, size.columns)) yield paint(BOLD, line);
  if (status.kind === 'live' && restartedAtMs !== undefined && nowMs - restartedAtMs < RESTART_TOLD_MS) {
    const told = 'The control plane was started anew: what it had learned begins again.';
    for (const line of folded(told, size.columns)) yield paint(YELLOW, line);
  }
  if (state === undefined || model.tab === 'warnings') return;
  const warnings = allWarnings(state);
  for (const { text, group } of warnings.slice(0, WARNINGS_ABOVE)) {
    yield paint(YELLOW, `! ${group === undefined ? '' : `${group}: `}${text}`);
  }
  const more = warnings.length - WARNINGS_ABOVE;
  if (more > 0) yield paint(YELLOW, `! and ${more} more: w shows them, with what to do`);
}

function* statusLines({ view, nowMs, admin }: TopScene, size: TopSize, paint: Paint): Generator<string> {
  const { status } = view;
  if (status.kind === 'connecting') yield `Asking ${admin} …`;
  if (status.kind !== 'lost') return;
  const seconds = Math.round((nowMs - status.sinceMs) / 1000);
  const parts = [
    `No connection to ${admin} for ${seconds} s, trying again each second.`,
    `${status.reason}.`,
    view.state === undefined ? '' : 'Below is what was known.',
  ];
  for (const line of wrapped(parts, size.columns)) yield paint(RED, line);
}

/** The time of the server, as far as it is known. */
function serverNow({ view, nowMs }: TopScene): number {
  return view.state === undefined ? 0 : view.state.now + Math.max(0, nowMs - view.toldAtMs);
}

function bodyOf(scene: TopScene, state: State, size: TopSize, paint: Paint): Body {
  switch (scene.model.tab) {
    case 'backends':
      return backendsBody(scene, state, size, paint);
    case 'sidecars':
      return textBody(sidecarLines(state, serverNow(scene)), size);
    case 'warnings':
      return textBody(warningLines(state), size);
    case 'help':
      return textBody(HELP, size);
  }
}

function textBody(lines: readonly string[], { columns }: TopSize): Body {
  return { fixed: [''], table: lines.flatMap((line) => folded(line, columns)) };
}

function backendsBody(scene: TopScene, state: State, size: TopSize, paint: Paint): Body {
  const group = groupShown(scene.model, state);
  if (group === undefined) return textBody(['no server group'], size);
  const { sorting, filter } = scene.model;
  const now = serverNow(scene);
  const rows = sortRows(filterRows(rowsOf(group, now), filter), sorting);
  const { heading, lines } = backendTable(rows, sorting, size.columns);
  const colors = rows.map(({ state: of }) =>
    of === 'unhealthy' ? RED : of === 'silent' ? YELLOW : undefined,
  );
  return {
    fixed: [...groupLines(group, now, size.columns), '', paint(BOLD, heading)],
    table: lines.map((line, index) => {
      const code = colors[index];
      return code === undefined ? line : paint(code, line);
    }),
  };
}

function groupShown({ group }: TopModel, { groups }: State): GroupState | undefined {
  return groups[Math.min(group, groups.length - 1)];
}

/** All of them, with what to do about each. */
export function warningLines(state: State): readonly string[] {
  const warnings = allWarnings(state);
  if (warnings.length === 0) return ['no warnings'];
  return warnings.flatMap(({ text, remedy, group }) => [
    `! ${group === undefined ? '' : `${group}: `}${text}`,
    `  ${remedy}`,
  ]);
}

const KEYS = ['? help', 'q quit', '/ filter', 's sidecars', 'w warnings', '← → sort', 'r reverse'];

/** As many of the keys as there is room for: the help has them all. */
function footer(
  { model, view }: TopScene,
  { columns }: TopSize,
  from: number,
  room: number,
  total: number,
): string {
  if (model.typing) return `/${model.filter}_   enter keeps the filter, escape ends it`;
  const groups = view.state?.groups.length ?? 0;
  const place =
    total > room && room > 0 ? `${from + 1} to ${Math.min(total, from + room)} of ${total}   ` : '';
  const filter = model.filter === '' ? '' : `filter: ${model.filter}   `;
  const which = groups > 1 ? `group ${Math.min(model.group + 1, groups)} of ${groups} (tab)   ` : '';
  const [first = '', ...others] = model.tab === 'backends' ? KEYS : ['b backends', ...KEYS];
  const [line = ''] = wrapped([`${which}${filter}${place}${first}`, ...others], columns);
  return line;
}

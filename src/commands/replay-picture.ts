import type { BackendId } from '../core/model/backend.ts';
import type { Replay } from '../replay/replay.ts';
import { POINTS, type Series } from '../replay/series.ts';
import { printable } from '../runtime/text.ts';
import { clockFace } from './duration.ts';

/** Backends of a group that are drawn: those that differ the most. */
const BACKENDS_MAX = 8;
const WIDTH = 860;
const PADDING = 28;
const LEFT = 250;
const RIGHT = WIDTH - 70;
const PANEL = { height: 54, step: 74 } as const;
const HEAD = 128;
const GROUP_HEAD = 40;
const FOOT = 30;

/** A card of its own colour, so that it can be read on any page; readers who like it dark get it dark. */
const STYLE = `
  .card { fill: #ffffff; stroke: #d5dae1; }
  .frame { fill: none; stroke: #e4e8ed; }
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #1c2530; }
  .title { font-size: 19px; font-weight: 650; }
  .group { font-size: 15px; font-weight: 650; }
  .name { font-size: 13px; }
  .note, .tick { font-size: 12px; fill: #5b6775; }
  path { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
  .was { stroke: #7d93ad; }
  .would { stroke: #e0782f; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #12181f; stroke: #313b47; }
    .frame { stroke: #252e38; }
    text { fill: #e8edf2; }
    .note, .tick { fill: #9aa7b5; }
    .was { stroke: #8ba0ba; }
    .would { stroke: #e58745; }
  }`;

interface Panel {
  readonly title: string;
  readonly note: string;
  readonly was: Series;
  readonly would: Series;
  readonly unit: 'share' | 'count';
}

/** The courses of shares, saturation and the refused share, what was and what would have been, as an SVG document. */
export function replayPicture(replays: readonly Replay[]): string {
  const groups = replays.map((replay) => ({ replay, panels: panelsOf(replay) }));
  let top = HEAD;
  const drawn = groups.flatMap(({ replay, panels }) => {
    const lines = drawGroup(replay, panels, top);
    top += heightOf(panels);
    return lines;
  });
  const height = top + FOOT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">`,
    '<title id="title">Replay: what was published, and what another configuration would have</title>',
    '<desc id="description">Open loop: it cannot foretell queues or latency.</desc>',
    `<style>${STYLE}\n</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="10"/>`,
    text('title', PADDING, 38, 'What was, and what would have been'),
    text('note', PADDING, 60, 'Open loop: the samples are of the load that came of what was published.'),
    text('note', PADDING, 77, 'What other weights would have done to queues and latency is not in them.'),
    ...legend(),
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function legend(): readonly string[] {
  return [
    `<path class="was" d="M${PADDING} 98h22"/>`,
    text('name', PADDING + 30, 102, 'was published'),
    `<path class="would" d="M${PADDING + 140} 98h22"/>`,
    text('name', PADDING + 170, 102, 'would have been'),
  ];
}

function panelsOf({ was, would, report }: Replay): readonly Panel[] {
  const courses = report.backends
    .map((of) => ({ ...of, differs: Math.abs(of.was.mean - of.would.mean) }))
    .toSorted((one, other) => other.differs - one.differs)
    .slice(0, BACKENDS_MAX);
  const shown = new Set<BackendId>(courses.map(({ backend }) => backend));
  const backends = report.backends.flatMap(({ backend }): readonly Panel[] => {
    const [before, after] = [was.backends.get(backend), would.backends.get(backend)];
    if (before === undefined || after === undefined || !shown.has(backend)) return [];
    const title = printable(backend, 30);
    return [{ title, note: 'share of requests', was: before.course, would: after.course, unit: 'share' }];
  });
  return [
    ...backends,
    { title: 'Saturated', note: 'backends', was: was.saturated, would: would.saturated, unit: 'count' },
    { title: 'Refused', note: 'share of requests', was: was.refused, would: would.refused, unit: 'share' },
  ];
}

function drawGroup({ report }: Replay, panels: readonly Panel[], top: number): readonly string[] {
  const { serverGroup, backends, from, to, warmUpEvaluations: left } = report;
  const more = backends.length - BACKENDS_MAX;
  const which = more > 0 ? `, the ${BACKENDS_MAX} of ${backends.length} backends that differ the most` : '';
  const bottom = top + heightOf(panels) - 12;
  return [
    text('group', PADDING, top + 16, `${printable(serverGroup, 60)}${which}`),
    ...panels.flatMap((panel, index) => drawPanel(panel, top + GROUP_HEAD + index * PANEL.step)),
    text('tick', LEFT, bottom, '0:00:00'),
    ...(left === 0
      ? []
      : [text('tick', (LEFT + RIGHT) / 2, bottom, `the first ${left} evaluations are left out`, 'middle')]),
    text('tick', RIGHT, bottom, clockFace((to - from) / 1000), 'end'),
  ];
}

function drawPanel({ title, note, was, would, unit }: Panel, top: number): readonly string[] {
  const [before, after] = [was.points, would.points];
  const most = [...before, ...after].reduce<number>((max, value) => Math.max(max, value ?? 0), 0);
  const scale = niceAbove(most, unit);
  const label = unit === 'share' ? `${Math.round(1000 * scale) / 10} %` : String(scale);
  return [
    text('name', PADDING, top + 20, title),
    text('note', PADDING, top + 38, note),
    `<rect class="frame" x="${LEFT}" y="${top}" width="${RIGHT - LEFT}" height="${PANEL.height}"/>`,
    text('tick', RIGHT + 8, top + 9, label),
    text('tick', RIGHT + 8, top + PANEL.height, '0'),
    `<path class="was" d="${pathOf(before, scale, top)}"/>`,
    `<path class="would" d="${pathOf(after, scale, top)}"/>`,
  ];
}

/** 1, 2 or 5 times a power of ten, and a percent or one backend at least. */
function niceAbove(most: number, unit: Panel['unit']): number {
  const least = unit === 'share' ? 0.01 : 1;
  const power = 10 ** Math.floor(Math.log10(Math.max(most, least)));
  const nice = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= most - 1e-9);
  return Math.max(least, unit === 'share' ? Math.min(1, nice ?? 1) : (nice ?? 1));
}

/** What is not known leaves the curve open. */
function pathOf(points: readonly (number | undefined)[], scale: number, top: number): string {
  let path = '';
  let isDown = false;
  for (const [index, value] of points.entries()) {
    if (value === undefined) continue;
    const x = LEFT + ((index + 0.5) * (RIGHT - LEFT)) / POINTS;
    const y = top + PANEL.height * (1 - value / scale);
    path += `${isDown ? 'L' : 'M'}${round(x)} ${round(y)}`;
    isDown = true;
  }
  return path === '' ? 'M0 0' : path;
}

function heightOf(panels: readonly Panel[]): number {
  return GROUP_HEAD + panels.length * PANEL.step + 10;
}

function text(kind: string, x: number, y: number, words: string, anchor?: string): string {
  const at = anchor === undefined ? '' : ` text-anchor="${anchor}"`;
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}"${at}>${escape(words)}</text>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escape(words: string): string {
  return words
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

import type { Estimate, Interval } from './bootstrap.ts';
import type { ArmName } from './model.ts';
import { percent } from './numerals.ts';
import type { Report, RowReport, ScenarioReport } from './report.ts';
import { HEADLINE_ARMS, USUAL_SIDECARS } from './scenarios.ts';

/** Top to bottom, where they were measured. */
const SHOWN = [
  'equal-0.85',
  'half-speed-0.8',
  'degrading-0.7',
  'cold-join-0.7',
  'bursts-0.7',
  'fast-failing-0.7',
  'overload-1.5',
];

const LABELS: Partial<Readonly<Record<ArmName, string>>> = {
  'round-robin': 'Envoy ROUND_ROBIN',
  'least-request': 'Envoy LEAST_REQUEST',
  adaptive: 'Plimsoll',
};

const WIDTH = 860;
const PADDING = 28;
/** Where 0 and 100 % are. */
const AXIS = { from: 292, to: 760 } as const;
const TOP = 118;
const BAR = { height: 13, step: 17 } as const;
const GROUP_GAP = 22;
const BOTTOM = 46;

/** A card of its own colour, so that it can be read on any page; readers who like it dark get it dark. */
const STYLE = `
  .card { fill: #ffffff; stroke: #d5dae1; }
  .grid { stroke: #e4e8ed; }
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #1c2530; }
  .title { font-size: 19px; font-weight: 650; }
  .note, .tick { font-size: 12.5px; fill: #5b6775; }
  .name { font-size: 13.5px; }
  .value { font-size: 12px; font-variant-numeric: tabular-nums; fill: #5b6775; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; }
  .value.adaptive { font-weight: 650; fill: #1c2530; }
  .interval { stroke: #1c2530; stroke-width: 1.3; stroke-opacity: 0.75; fill: none; }
  .bar.round-robin { fill: #b9c1cb; }
  .bar.least-request { fill: #74a0d6; }
  .bar.adaptive { fill: #e0782f; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #12181f; stroke: #313b47; }
    .grid { stroke: #252e38; }
    text, .value.adaptive { fill: #e8edf2; }
    .note, .tick, .value { fill: #9aa7b5; }
    .value { stroke: #12181f; }
    .interval { stroke: #f3f6f9; }
    .bar.round-robin { fill: #5d6874; }
    .bar.least-request { fill: #4d7fbd; }
    .bar.adaptive { fill: #e58745; }
  }`;

interface Group {
  readonly title: string;
  readonly bars: readonly { readonly arm: ArmName; readonly goodput: Estimate }[];
}

/**
 * First tokens in time per scenario, of the headline's arms at the usual number of sidecars, as an SVG document. Equal
 * reports give equal bytes. Undefined where no scenario has them.
 */
export function pictureOf(report: Report): string | undefined {
  const groups = SHOWN.flatMap((name) => {
    const found = report.scenarios.find(({ scenario }) => scenario.name === name);
    return found === undefined ? [] : groupOf(found);
  });
  if (groups.length === 0) return undefined;
  const tops = groups.map((_, index) => TOP + heightOf(groups.slice(0, index)));
  const bottom = TOP + heightOf(groups) - GROUP_GAP / 2;
  const height = bottom + BOTTOM;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">First tokens in time, by scenario and load balancer</title>`,
    `<desc id="description">${escape(descriptionOf(groups))}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="10"/>`,
    ...headOf(report, groups),
    ...gridOf(bottom),
    ...groups.flatMap((group, index) => drawGroup(group, tops[index]!)),
    '</svg>',
    '',
  ].join('\n');
}

function groupOf({ scenario, rows }: ScenarioReport): readonly Group[] {
  const bars = HEADLINE_ARMS.flatMap((arm) => {
    const row = rows.find((each: RowReport) => each.arm === arm && each.sidecars === USUAL_SIDECARS);
    return row?.figures === undefined ? [] : [{ arm, goodput: row.figures.goodput }];
  });
  return bars.length < HEADLINE_ARMS.length ? [] : [{ title: scenario.title, bars }];
}

function headOf({ cores, commits }: Report, groups: readonly Group[]): readonly string[] {
  let x = PADDING;
  const legend = HEADLINE_ARMS.flatMap((arm) => {
    const label = LABELS[arm] ?? arm;
    const at = x;
    x += 44 + label.length * 8.4;
    return [
      `<rect class="bar ${arm}" x="${at}" y="79" width="13" height="13" rx="2.5"/>`,
      text('name', at + 20, 90, label),
    ];
  });
  const intervals = groups.some(({ bars }) => bars.some(({ goodput }) => goodput.interval !== undefined));
  const shown = `Share of offered requests, ${USUAL_SIDECARS} Envoy sidecars${intervals ? ', 95 % intervals' : ''}`;
  const note = `${shown}; commit ${commits.join(', ')}, ${cores.join(' or ')} cores`;
  return [text('title', PADDING, 38, 'First tokens in time'), text('note', PADDING, 60, note), ...legend];
}

function gridOf(bottom: number): readonly string[] {
  return [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    `<line class="grid" x1="${xOf(share)}" x2="${xOf(share)}" y1="${TOP - 8}" y2="${bottom}"/>`,
    text('tick', xOf(share), bottom + 20, `${share * 100} %`, 'middle'),
  ]);
}

function drawGroup({ title, bars }: Group, top: number): readonly string[] {
  const middle = top + (bars.length * BAR.step - (BAR.step - BAR.height)) / 2;
  const lines = wrap(title);
  const first = middle + 4.5 - ((lines.length - 1) * 17) / 2;
  return [
    ...lines.map((words, index) => text('name', PADDING, first + index * 17, words)),
    ...bars.flatMap((bar, index) => drawBar(bar, top + index * BAR.step)),
  ];
}

function drawBar({ arm, goodput }: Group['bars'][number], top: number): readonly string[] {
  const middle = top + BAR.height / 2;
  const end = xOf(goodput.value);
  const { interval } = goodput;
  const labelAt = Math.max(end, interval === undefined ? 0 : xOf(interval.high)) + 8;
  return [
    `<rect class="bar ${arm}" x="${AXIS.from}" y="${top}" width="${round(end - AXIS.from)}" height="${BAR.height}" rx="2"/>`,
    ...(interval === undefined ? [] : [whiskers(interval, middle)]),
    text(`value ${arm}`, labelAt, top + 10.5, `${percent(goodput.value)} %`),
  ];
}

function whiskers({ low, high }: Interval, middle: number): string {
  const [from, to] = [xOf(low), xOf(high)];
  const cap = (x: number): string => `M${x} ${middle - 3.5}V${middle + 3.5}`;
  return `<path class="interval" d="M${from} ${middle}H${to}${cap(from)}${cap(to)}"/>`;
}

/** At most two lines, in the column left of the axis. */
function wrap(title: string): readonly string[] {
  const most = 36;
  const sentence = `${title[0]?.toUpperCase() ?? ''}${title.slice(1)}`;
  if (sentence.length <= most) return [sentence];
  const at = sentence.lastIndexOf(' ', most);
  return [sentence.slice(0, at), sentence.slice(at + 1)];
}

function heightOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { bars }) => sum + bars.length * BAR.step + GROUP_GAP, 0);
}

function descriptionOf(groups: readonly Group[]): string {
  return groups
    .map(({ title, bars }) => {
      const figures = bars.map(({ arm, goodput }) => `${LABELS[arm] ?? arm} ${percent(goodput.value)} %`);
      return `${title}: ${figures.join(', ')}`;
    })
    .join('. ');
}

function text(kind: string, x: number, y: number, words: string, anchor?: string): string {
  const at = anchor === undefined ? '' : ` text-anchor="${anchor}"`;
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}"${at}>${escape(words)}</text>`;
}

function xOf(share: number): number {
  return round(AXIS.from + Math.min(1, Math.max(0, share)) * (AXIS.to - AXIS.from));
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

import { MOST_OVERTIME_SECONDS } from './acts.ts';
import { folded, GAP, wrapped } from '../runtime/wrap.ts';
import { type Cell, formatTable } from './table.ts';

/** What one screen shows. Numbers that are undefined are shown as `-`. */
export interface View {
  readonly act: string;
  readonly story: string;
  /** Where to look. */
  readonly addresses: readonly string[];
  /** undefined: it goes on until somebody ends it. */
  readonly secondsLeft: number | undefined;
  /** Requests go on arriving until no share of them is refused any more. */
  readonly isInOvertime: boolean;
  /** p: share of the requests that sidecars are told to refuse, 0..1. */
  readonly shed: number | undefined;
  readonly ratePerSecond: number;
  readonly firstTokenP50Ms: number;
  readonly firstTokenP95Ms: number;
  readonly noUpstream: number;
  readonly failed: number;
  /** `up`, or why it does not answer. */
  readonly controlPlane: string;
  readonly backends: readonly BackendView[];
  /** Lines of the acts that are over. */
  readonly past: readonly string[];
}

export interface BackendView {
  readonly id: string;
  /** 1, or 0.5 for half speed. */
  readonly speed: number;
  readonly queued: number;
  readonly running: number;
  /** 0..1 */
  readonly kvUtilization: number;
  /** 0..1 */
  readonly score: number | undefined;
  readonly weight: number | undefined;
  /** Share of the act's requests, 0..1. */
  readonly share: number;
  readonly health: string | undefined;
}

const BOLD = '\u001b[1m';
const RED = '\u001b[31m';
const GREEN = '\u001b[32m';
const PLAIN = '\u001b[0m';

/** The lines of a whole screen; words are wrapped at `width`, the table is not. `color`: with ANSI colours. */
export function renderScreen(view: View, color: boolean, width: number): readonly string[] {
  const paint = (code: string, text: string): string => (color ? `${code}${text}${PLAIN}` : text);
  const rows = view.backends.map((backend): readonly Cell[] => [
    backend.id,
    percent(backend.speed),
    String(backend.queued),
    percent(backend.kvUtilization),
    String(backend.running),
    backend.score === undefined ? '-' : (backend.score * 100).toFixed(0),
    backend.weight === undefined ? '-' : String(backend.weight),
    percent(backend.share),
    backend.health ?? '-',
  ]);
  const [heading = '', ...lines] = formatTable(COLUMNS, rows);
  return [
    ...wrapped(['plimsoll demo', ...headParts(view)], width).map((line) => paint(BOLD, line)),
    ...folded(view.story, width),
    '',
    ...view.addresses.flatMap((line) => folded(line, width)),
    '',
    ...wrapped(loadParts(view), width),
    '',
    paint(BOLD, heading),
    ...lines.map((line) => paint(line.includes('UNHEALTHY') ? RED : GREEN, line)),
    '',
    ...view.past.flatMap((line) => folded(line, width)),
  ];
}

/** The same on one line, for a log. */
export function renderLine(view: View): string {
  const backends = view.backends.map(
    ({ id, queued, running, kvUtilization, score, weight, share, health }) => {
      const decided = `score ${score === undefined ? '-' : (score * 100).toFixed(0)} weight ${weight ?? '-'}`;
      return `${id} q${queued} kv ${percent(kvUtilization)} r${running} ${decided} ${percent(share)} ${health ?? '-'}`;
    },
  );
  return [headParts(view).join(', '), loadParts(view).join(GAP), ...backends].join(' | ');
}

const COLUMNS = [
  '<backend',
  'speed',
  'queue',
  'KV',
  'running',
  'score',
  'weight',
  'requests',
  '<health',
] as const;

function headParts(view: View): readonly string[] {
  return [view.act, timeLeft(view), refusal(view)].filter((part) => part !== '');
}

function loadParts(view: View): readonly string[] {
  return [
    `control plane ${view.controlPlane}`,
    `load ${view.ratePerSecond.toFixed(1)}/s`,
    `first token p50 ${seconds(view.firstTokenP50Ms)}, p95 ${seconds(view.firstTokenP95Ms)}`,
    `503s ${view.noUpstream}`,
    `failures ${view.failed}`,
  ];
}

function refusal({ shed }: View): string {
  return `p ${shed === undefined ? '-' : percent(shed)}`;
}

function timeLeft({ secondsLeft, isInOvertime }: View): string {
  if (secondsLeft === undefined) return '';
  if (isInOvertime) return `goes on until p is 0, for ${MOST_OVERTIME_SECONDS} s at most`;
  return secondsLeft > 0 ? `${secondsLeft.toFixed(0)} s left` : 'waiting for the last answers';
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(0)}%`;
}

/** Milliseconds as seconds with two decimals. */
export function seconds(milliseconds: number): string {
  return Number.isFinite(milliseconds) ? `${(milliseconds / 1000).toFixed(2)} s` : '-';
}

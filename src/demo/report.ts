import type { Check } from './checks.ts';
import { type Machine, starvedWords } from './machine.ts';
import { seconds } from './screen.ts';
import type { ActSummary } from './summary.ts';
import { formatTable } from './table.ts';

/** Everything that a demo measured. */
export interface Report {
  readonly seconds: number;
  readonly seed: number;
  readonly backends: readonly { readonly id: string; readonly speed: number }[];
  readonly summaries: readonly ActSummary[];
  readonly checks: readonly Check[];
  readonly machine: Machine;
}

const SOURCES = [
  'Every figure above is measured by the load generator in front of Envoy. First-token times count from the planned',
  'arrival; a request that got none counts as the slowest (`-`). 503s are `no available upstream` with `retry-after`,',
  'answered by Envoy; failures are all other ends. b1, b2, …: share of the answers, by the header that names the backend.',
  "On the screen, queue, KV and running come from the simulated engines; score, weight and health from Plimsoll's",
  '/metrics, and while it is dead weight and health from what Envoy holds.',
];

/** The closing text: acts 1 and 2 side by side, what the others showed, and the checks. */
export function formatReport(report: Report): string {
  const rows = report.summaries.map((summary) => [
    `${summary.act.number} ${summary.act.title}`,
    String(summary.requests),
    `${rateOf(summary).toFixed(1)}/s`,
    seconds(summary.firstTokenP50Ms),
    seconds(summary.firstTokenP95Ms),
    `${(summary.withinSecond * 100).toFixed(1)}%`,
    String(summary.noUpstream),
    failuresOf(summary),
    ...report.backends.map(({ id }) => shareOf(summary, id)),
  ]);
  const names = report.backends.map(
    ({ speed }, index) => `b${index + 1}${speed === 1 ? '' : ` (${speed}x)`}`,
  );
  const headings = ['<act', 'requests', 'load', 'p50', 'p95', 'within 1 s', '503s', 'failures', ...names];
  const checks = report.checks.map(
    ({ ok, name, measured }) => `${ok ? 'ok    ' : 'FAILED'} ${name}: ${measured}`,
  );
  const overload = report.summaries.flatMap(overloadLine);
  const table = formatTable(headings, rows);
  return `${['', ...table, '', ...overload, ...SOURCES, '', ...checks, ...starved(report)].join('\n')}\n`;
}

/** Beside what failed. */
function starved({ checks, machine }: Report): readonly string[] {
  const words = starvedWords(machine);
  return words === undefined || checks.every(({ ok }) => ok) ? [] : [`       ${words}`];
}

/** What was refused in an act that had something to refuse, beside p. */
function overloadLine({ act, settled, settledShed }: ActSummary): readonly string[] {
  if (!(settledShed > 0)) return [];
  return [
    `Act ${act.number}, once settled: Envoy was told to refuse p = ${percent(settledShed)} of the requests and refused ` +
      `${percent(settled.share)}; of the others ${percent(settled.servedInTime)} had their first token within 1 s.`,
    '',
  ];
}

/** The same for programs: one JSON document; times in seconds, null where there is none. */
export function reportJson(report: Report): string {
  const acts = report.summaries.map((summary) => ({
    act: summary.act.number,
    title: summary.act.title,
    seconds: summary.act.seconds,
    ratePerSecond: rateOf(summary),
    requests: summary.requests,
    firstTokenP50Seconds: inSeconds(summary.firstTokenP50Ms),
    firstTokenP95Seconds: inSeconds(summary.firstTokenP95Ms),
    withinSecondRatio: summary.withinSecond,
    ok: summary.ok,
    noUpstream: summary.noUpstream,
    failures: Object.fromEntries(summary.failures),
    requestsByBackend: Object.fromEntries(summary.byBackend),
    firstOkSeconds: inSeconds(summary.firstOkMs ?? Number.NaN),
    afterKill: summary.killed && {
      requests: summary.killed.requests,
      ok: summary.killed.ok,
      toldToRefuseRatio: orNull(summary.killed.shed),
    },
    settled: {
      toldToRefuseRatio: orNull(summary.settledShed),
      refusedRatio: orNull(summary.settled.share),
      refusedDeviation: orNull(summary.settled.deviation),
      servedInTimeRatio: orNull(summary.settled.servedInTime),
    },
  }));
  const ok = report.checks.every((check) => check.ok);
  const { seconds: length, seed, backends, checks } = report;
  const { lateP99Ms, lateMostMs, load, cores } = report.machine;
  const timersLate = { p99Seconds: inSeconds(lateP99Ms), mostSeconds: inSeconds(lateMostMs) };
  const machine = { timersLate, load, cores };
  return `${JSON.stringify({ ok, seed, seconds: length, backends, acts, checks, machine }, null, 2)}\n`;
}

/** Mean over the act. */
function rateOf({ act, requests }: ActSummary): number {
  return requests / act.seconds;
}

function inSeconds(milliseconds: number): number | null {
  return Number.isFinite(milliseconds) ? milliseconds / 1000 : null;
}

function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(0)}%`;
}

function failuresOf({ failures }: ActSummary): string {
  return failures.size === 0 ? '0' : [...failures].map(([kind, count]) => `${count} ${kind}`).join(', ');
}

function shareOf({ byBackend }: ActSummary, id: string): string {
  const all = [...byBackend.values()].reduce((sum, value) => sum + value, 0);
  return all === 0 ? '-' : `${((100 * (byBackend.get(id) ?? 0)) / all).toFixed(0)}%`;
}

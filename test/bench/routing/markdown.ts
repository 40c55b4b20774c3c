import type { Estimate } from './bootstrap.ts';
import type { Verdict } from './judge.ts';
import type { ArmName, Scenario } from './model.ts';
import { number, percent, percentWithInterval, ratioWithInterval, seconds } from './numerals.ts';
import type { Figures, Quantiles, Report, RowReport, ScenarioReport } from './report.ts';
import { judgedSeconds } from './scenarios.ts';

/** What the arms are called in tables and in the picture. */
export const ARM_TITLES: Readonly<Record<ArmName, string>> = {
  'round-robin': 'ROUND_ROBIN',
  'least-request': 'LEAST_REQUEST',
  orca: 'ORCA (client_side_weighted_round_robin)',
  'adaptive-round-robin': 'Plimsoll, RoundRobin',
  adaptive: '**Plimsoll**',
  'adaptive-marks': 'Plimsoll, marks alone',
  linear: 'Plimsoll, Linear',
};

interface Column {
  readonly title: string;
  readonly cell: (figures: Figures) => string;
}

const COLUMNS: readonly Column[] = [
  { title: 'in time, %', cell: ({ goodput }) => percentWithInterval(goodput) },
  {
    title: 'misses / ROUND_ROBIN',
    cell: ({ againstRoundRobin }) => againstText(againstRoundRobin?.missRatio),
  },
  {
    title: 'misses / LEAST_REQUEST',
    cell: ({ againstLeastRequest }) => againstText(againstLeastRequest?.missRatio),
  },
  { title: 'first token, s: p50 / p95 / p99', cell: ({ firstToken }) => quantilesText(firstToken) },
  { title: 'end to end, s', cell: ({ end }) => quantilesText(end) },
  {
    title: '503, % (deviation)',
    cell: ({ shed, shedDeviation }) =>
      shed.value === 0 ? '0' : `${percent(shed.value)} (${percent(shedDeviation)})`,
  },
  { title: 'failed, %', cell: ({ failed }) => (failed === 0 ? '0' : percent(failed)) },
  { title: 'spread', cell: ({ insideCv }) => number(insideCv, 2) },
  {
    title: 'pushes, flips a minute',
    cell: ({ controlPlane }) =>
      controlPlane === undefined
        ? ''
        : `${number(controlPlane.pushesPerMinute, 0)}, ${number(controlPlane.healthFlipsPerMinute, 1)}`,
  },
  {
    title: 'CPU s per 1,000: Envoys + Plimsoll',
    cell: ({ envoyCpu, controlPlane }) =>
      [envoyCpu, ...(controlPlane ? [controlPlane.cpu] : [])].map((cpu) => number(cpu, 2)).join(' + '),
  },
  {
    title: 'delay, ms: p50 / p99',
    cell: ({ controlPlane }) =>
      controlPlane?.delay === undefined
        ? ''
        : [controlPlane.delay.p50, controlPlane.delay.p99]
            .map((value) => number(value * 1_000, 0))
            .join(' / '),
  },
];

const RECOVERY: Column = {
  title: 'in time again after, s',
  cell: ({ recovery }) =>
    recovery === undefined ? '' : Number.isFinite(recovery) ? number(recovery, 0) : 'never',
};

/** The report as tables for `test/bench/README.md`. */
export function reportToMarkdown(report: Report): string {
  if (report.scenarios.length === 0) return 'No finished cells.\n';
  const parts = [headOf(report), goalsOf(report), ...report.scenarios.map(scenarioOf)];
  return `${parts.join('\n\n')}\n`;
}

function headOf({ product, commits, cores, scenarios }: Report): string {
  const first = `Commit ${commits.join(', ')}, version ${product} of the product, ${cores.join(' or ')} cores.`;
  const mixed = scenarios.some(({ rows }) => rows.some(({ otherProducts }) => otherProducts.length > 0));
  return mixed ? `${first}\n**Mixed:** a row with † has cells of another version of the product.` : first;
}

function goalsOf({ goals }: Report): string {
  const count = (status: Verdict['status']): number => goals.filter((goal) => goal.status === status).length;
  const lines = goals
    .filter(({ status }) => status !== 'not measured')
    .map(({ goal, status, asked, measured }) => {
      const rival = goal.against && rivalText(goal.scenario, goal.against);
      const verdict = status === 'met' ? 'met' : '**missed**';
      return line([goal.area, goal.scenario, String(goal.sidecars), rival ?? '', asked, measured, verdict]);
    });
  return [
    `#### Goals: ${count('met')} met, ${count('missed')} missed, ${count('not measured')} not measured`,
    '',
    ...head(['goal', 'scenario', 'sidecars', 'against', 'asked', 'measured', '']),
    ...lines,
  ].join('\n');
}

function rivalText(scenario: string, against: { readonly scenario: string; readonly arm: ArmName }): string {
  const arm = ARM_TITLES[against.arm].replaceAll('*', '');
  return against.scenario === scenario ? arm : `${arm} in ${against.scenario}`;
}

function scenarioOf({ scenario, rows }: ScenarioReport): string {
  const columns = rows.some(({ figures }) => figures?.recovery !== undefined)
    ? [...COLUMNS, RECOVERY]
    : COLUMNS;
  const notes = rows.flatMap(notesOf);
  return [
    `#### \`${scenario.name}\`: ${scenario.title}`,
    '',
    seedsOf(scenario, rows),
    '',
    ...head(['arm', 'sidecars', ...columns.map(({ title }) => title)]),
    ...rows.map((row) => rowOf(row, columns)),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ].join('\n');
}

function seedsOf(scenario: Scenario, rows: readonly RowReport[]): string {
  const counts = rows.map(({ seeds }) => seeds.length);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const seeds = fewest === most ? String(most) : `${fewest} to ${most}`;
  return `${seeds} seed${seeds === '1' ? '' : 's'} of ${judgedSeconds(scenario)} s.`;
}

function rowOf(
  { arm, sidecars, figures, otherProducts, disturbed }: RowReport,
  columns: readonly Column[],
): string {
  const title = `${ARM_TITLES[arm]}${otherProducts.length > 0 ? ' †' : ''}${disturbed.length > 0 ? ' ‡' : ''}`;
  if (figures === undefined)
    return line([title, String(sidecars), 'disturbed', ...columns.slice(1).map(() => '')]);
  return line([title, String(sidecars), ...columns.map(({ cell }) => cell(figures))]);
}

function notesOf({ arm, sidecars, disturbed, rateFactors }: RowReport): readonly string[] {
  const name = `${ARM_TITLES[arm].replaceAll('*', '')}, ${sidecars} sidecars`;
  const lowered = rateFactors.filter((factor) => factor < 1);
  return [
    ...(lowered.length > 0
      ? [`- ${name}: disturbed at the full rate, some seeds run again at ${lowered.join(' and ')} of it`]
      : []),
    ...disturbed.map(({ seed, reasons }) => `- ‡ ${name}, seed ${seed} is left out: ${reasons.join('; ')}`),
  ];
}

function againstText(missRatio: Estimate | undefined): string {
  return missRatio === undefined ? '' : ratioWithInterval(missRatio);
}

function quantilesText({ p50, p95, p99 }: Quantiles): string {
  return [p50, p95, p99].map(seconds).join(' / ');
}

function head(titles: readonly string[]): readonly string[] {
  return [line(titles), `|${'---|'.repeat(titles.length)}`];
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |').replaceAll('|  |', '| |');
}

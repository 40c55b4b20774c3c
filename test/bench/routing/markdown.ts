import type { Comparison } from './comparison.ts';
import type { Status, Verdict } from './judge.ts';
import type { ArmName, Scenario } from './model.ts';
import { number, percent, percentWithInterval, ratioWithInterval, seconds } from './numerals.ts';
import type { Figures, Quantiles, Report, RowReport, ScenarioReport } from './report.ts';
import { judgedSeconds, USUAL_SIDECARS } from './scenarios.ts';

/** What the arms are called in tables and in the picture. */
export const ARM_TITLES: Readonly<Record<ArmName, string>> = {
  'round-robin': 'ROUND_ROBIN',
  'least-request': 'LEAST_REQUEST',
  orca: 'ORCA weights',
  'adaptive-round-robin': 'Plimsoll, RoundRobin',
  adaptive: '**Plimsoll**',
  'adaptive-marks': 'Plimsoll, marks alone',
  linear: 'Plimsoll, Linear',
};

/** Left out of a table in which it is empty or `0` for every arm. */
interface Column {
  readonly title: string;
  readonly cell: (figures: Figures) => string;
}

const COLUMNS: readonly Column[] = [
  { title: 'in time, %', cell: ({ goodput }) => percentWithInterval(goodput) },
  {
    title: 'misses / ROUND_ROBIN',
    cell: ({ againstRoundRobin }) => againstText(againstRoundRobin),
  },
  {
    title: 'misses / LEAST_REQUEST',
    cell: ({ againstLeastRequest }) => againstText(againstLeastRequest),
  },
  { title: 'first token, s: p50 / p95 / p99', cell: ({ firstToken }) => quantilesText(firstToken) },
  {
    title: '503s, % of attempts (deviation)',
    cell: ({ shed, shedDeviation }) =>
      shed.value === 0 ? '0' : `${percent(shed.value)} (${percent(shedDeviation)})`,
  },
  {
    title: 'in time again after',
    cell: ({ recovery }) =>
      recovery === undefined ? '' : Number.isFinite(recovery) ? `${number(recovery, 0)} s` : 'never',
  },
  { title: 'failed, %', cell: ({ failed }) => (failed === 0 ? '0' : percent(failed)) },
  { title: 'end to end, s', cell: ({ end }) => quantilesText(end) },
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

/** So many scenarios of one outcome are named, of more only the number is told. */
const MOST_NAMED = 4;

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

/** A line for each thing that is asked, with the scenarios of which it is. */
function goalsOf({ goals }: Report): string {
  const count = (status: Status): number => withStatus(goals, status).length;
  const areas = [...new Set(goals.map(({ goal }) => goal.area))];
  const begun = new Set(goals.filter(({ measured }) => measured !== '').map(({ goal }) => goal.area));
  const shown = goals.filter(({ goal }) => begun.has(goal.area));
  const open = areas.filter((area) => !begun.has(area));
  return [
    `#### Goals: ${count('met')} met, ${count('missed')} missed, ${count('not measured')} not measured`,
    '',
    `Of Plimsoll as it comes, with ${USUAL_SIDECARS} sidecars where nothing else is said.`,
    '',
    ...tableOf(
      ['goal', 'asked', 'met', 'missed', 'not measured'],
      [...grouped(shown, askOf).values()].map((verdicts) => [
        verdicts[0]!.goal.area,
        askedText(verdicts[0]!),
        outcomesOf(withStatus(verdicts, 'met')),
        bold(outcomesOf(withStatus(verdicts, 'missed'))),
        outcomesOf(withStatus(verdicts, 'not measured')),
      ]),
    ),
    ...(open.length > 0 ? ['', `Not measured at all: ${open.join('; ')}.`] : []),
  ].join('\n');
}

function withStatus(verdicts: readonly Verdict[], status: Status): readonly Verdict[] {
  return verdicts.filter((verdict) => verdict.status === status);
}

/** The same for verdicts that share a line. */
function askOf(verdict: Verdict): string {
  return `${verdict.goal.area} ${verdict.goal.sidecars} ${askedText(verdict)}`;
}

function askedText({ goal: { scenario, against }, asked }: Verdict): string {
  return against === undefined ? asked : `${asked}, against ${rivalText(scenario, against)}`;
}

function rivalText(scenario: string, against: { readonly scenario: string; readonly arm: ArmName }): string {
  const arm = plainTitle(against.arm);
  return against.scenario === scenario ? arm : `${arm} in \`${against.scenario}\``;
}

/** Each scenario with what came out, those of equal outcome together. */
function outcomesOf(verdicts: readonly Verdict[]): string {
  return [...grouped(verdicts, ({ measured }) => measured)]
    .map(([measured, alike]) => `${scenariosText(alike)}${measured === '' ? '' : `: ${measured}`}`)
    .join('<br>');
}

function scenariosText(verdicts: readonly Verdict[]): string {
  if (verdicts.length > MOST_NAMED) return `${verdicts.length} scenarios`;
  return verdicts.map(({ goal }) => `\`${goal.scenario}\``).join(', ');
}

function bold(text: string): string {
  return text === '' ? '' : `**${text}**`;
}

/** A table for each number of sidecars. */
function scenarioOf({ scenario, rows }: ScenarioReport): string {
  const bySidecars = [...grouped(rows, ({ sidecars }) => sidecars).values()];
  return [
    `#### \`${scenario.name}\`: ${scenario.title}`,
    ...bySidecars.map((some) => armsOf(scenario, some)),
  ].join('\n\n');
}

/** A line for each arm, of one scenario and number of sidecars. */
function armsOf(scenario: Scenario, rows: readonly RowReport[]): string {
  const { sidecars } = rows[0]!;
  const notes = [...loweredNotes(rows), ...disturbedNotes(rows)];
  return [
    `${sidecars} sidecar${sidecars === 1 ? '' : 's'}, ${seedsOf(rows)} of ${judgedSeconds(scenario)} s:`,
    '',
    ...tableOf(['arm', ...COLUMNS.map(({ title }) => title)], rows.map(cellsOf)),
    ...(notes.length > 0 ? ['', ...notes] : []),
  ].join('\n');
}

function seedsOf(rows: readonly RowReport[]): string {
  const counts = rows.map(({ seeds }) => seeds.length);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const seeds = fewest === most ? String(most) : `${fewest} to ${most}`;
  return `${seeds} seed${seeds === '1' ? '' : 's'}`;
}

function cellsOf({ arm, figures, otherProducts, disturbed }: RowReport): readonly string[] {
  const title = `${ARM_TITLES[arm]}${otherProducts.length > 0 ? ' †' : ''}${disturbed.length > 0 ? ' ‡' : ''}`;
  if (figures === undefined) return [title, 'disturbed', ...COLUMNS.slice(1).map(() => '')];
  return [title, ...COLUMNS.map(({ cell }) => cell(figures))];
}

function loweredNotes(rows: readonly RowReport[]): readonly string[] {
  const lowered = rows.map(({ arm, rateFactors }) => {
    const rates = rateFactors.filter((factor) => factor < 1).join(' and ');
    return { arm, note: rates && `disturbed at the full rate, some seeds run again at ${rates} of it` };
  });
  return notesOf(lowered.filter(({ note }) => note !== '')).map((line) => `- ${line}`);
}

function disturbedNotes(rows: readonly RowReport[]): readonly string[] {
  const disturbed = rows.flatMap(({ arm, disturbed: cells }) =>
    cells.map(({ seed, reasons }) => ({ arm, note: `seed ${seed} is left out: ${reasons.join('; ')}` })),
  );
  return notesOf(disturbed).map((line) => `- ‡ ${line}`);
}

/** Equal notes once, with all arms that they are of. */
function notesOf(notes: readonly { readonly arm: ArmName; readonly note: string }[]): readonly string[] {
  return [...grouped(notes, ({ note }) => note)].map(
    ([note, alike]) => `${alike.map(({ arm }) => plainTitle(arm)).join('; ')}: ${note}`,
  );
}

function plainTitle(arm: ArmName): string {
  return ARM_TITLES[arm].replaceAll('*', '');
}

function againstText(comparison: Comparison | undefined): string {
  if (comparison === undefined) return '';
  const { missed, rivalMissed, missRatio } = comparison;
  return missed === 0 && rivalMissed === 0 ? 'no misses' : ratioWithInterval(missRatio);
}

function quantilesText({ p50, p95, p99 }: Quantiles): string {
  return [p50, p95, p99].map(seconds).join(' / ');
}

/** Without the columns that are empty or `0` in every row. */
function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const told = titles.map((_, column) => rows.some((row) => !['', '0'].includes(row[column]!)));
  const line = (cells: readonly string[]): string =>
    `|${cells
      .filter((_, column) => told[column])
      .map((cell) => (cell === '' ? ' |' : ` ${cell} |`))
      .join('')}`;
  const rule = `|${'---|'.repeat(told.filter(Boolean).length)}`;
  return [line(titles), rule, ...rows.map(line)];
}

/** In the order of the first of each key. */
function grouped<Value, Key>(
  values: readonly Value[],
  keyOf: (value: Value) => Key,
): ReadonlyMap<Key, readonly Value[]> {
  const groups = new Map<Key, readonly Value[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
}

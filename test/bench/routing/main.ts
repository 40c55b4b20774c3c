/**
 * Routing quality on real Envoys: `npm run bench:routing`. See the method in test/bench/README.md.
 *
 *     --scenario equal-0.85,overload-2   --arm adaptive,least-request   --sidecars 1,4,16
 *                     only those; with --arm the comparisons need both arms
 *     --seeds 3       seeds 1 to 3 of each
 *     --jobs 4        cells side by side; default 2 for each core
 *     --quick         three scenarios, shortened, one seed: 4 minutes
 *     --plan          what would be played, and how long it takes
 *     --no-reruns     a disturbed cell is not played again at a lower rate, but shown as disturbed
 *     --retry-disturbed   forgets disturbed cells and plays them again at the full rate
 *     --report-only   the tables of what is finished
 *     --keep-going    where the version of the product that stands here has no such cell, take that of another version
 *     --picture FILE  writes the picture as SVG
 *     --json          the report as JSON instead of tables
 *     --assert        exit code 1 when a goal that was measured is missed
 *
 * Finished cells are kept in .cache/bench-routing: run it again to go on. Linux only.
 */
import { setMaxListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { EXIT, messageOf, PlimsollError } from '../../../src/runtime/errors.ts';
import { numberOption, readCommandLine } from '../../support/command-line.ts';
import { armOf } from './arm.ts';
import { builtPlimsoll } from './built-plimsoll.ts';
import { CellStore } from './cell-store.ts';
import { reportToMarkdown } from './markdown.ts';
import { ARMS, type ArmName, type Scenario } from './model.ts';
import { pictureOf } from './picture.ts';
import { playCell } from './play-cell.ts';
import { attemptOf, Plan, type Selection } from './planner.ts';
import { playPlan } from './player.ts';
import { productVersion } from './product.ts';
import { describe, Progress } from './progress.ts';
import { reportOf, reportToJson } from './report.ts';
import { QUICK_SCENARIOS, SCENARIOS } from './scenarios.ts';

const FOLDER = fileURLToPath(new URL('../../../.cache/bench-routing', import.meta.url));
const INTERRUPTED = 130;
/** On a busy machine more of them would only take time. */
const QUICK_RERUNS = 1;
/** A cell with 4 sidecars uses a sixth of a core; what starts and ends beside it needs some, too. */
const JOBS_PER_CORE = 2;
/** Of numbers on the command line. */
const UP_TO = { most: 999 } as const;

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    return await run(readOptions());
  } catch (error) {
    say(messageOf(error));
    return error instanceof PlimsollError && error.code === 'usage' ? EXIT.usage : EXIT.failed;
  }
}

interface Options {
  readonly selection: Selection;
  readonly jobs: number;
  readonly todo: 'plan' | 'play' | 'report';
  readonly keepGoing: boolean;
  readonly retryDisturbed: boolean;
  readonly picture: string | undefined;
  readonly json: boolean;
  readonly assert: boolean;
}

async function run(options: Options): Promise<number> {
  const products = { envoy: productVersion('envoy'), plimsoll: productVersion('plimsoll') };
  const productOf = (arm: ArmName): string => products[armOf(arm).kind];
  const store = new CellStore({ folder: FOLDER, productOf, others: options.keepGoing, warn: say });
  const plan = new Plan(options.selection, (spec) => store.get(spec));
  const progress = new Progress({ plan, jobs: options.jobs, say, now: () => performance.now() / 1_000 });
  if (options.retryDisturbed) for (const spec of plan.disturbed()) store.forget(spec);
  if (options.todo === 'plan') {
    for (const spec of plan.open()) console.log(describe(spec));
    progress.begin();
    return EXIT.ok;
  }
  const failed = options.todo === 'report' ? 0 : await play(plan, store, progress, options.jobs);
  if (failed === undefined) return INTERRUPTED;
  const disturbed = plan.rows().reduce((sum, row) => sum + row.disturbed.length, 0);
  if (disturbed > 0)
    say(
      `${disturbed} cells are disturbed: on a quiet machine, or with fewer --jobs, --retry-disturbed plays them again`,
    );
  const report = reportOf(plan.rows(), productOf);
  process.stdout.write(options.json ? reportToJson(report) : reportToMarkdown(report));
  if (options.picture !== undefined) writePicture(options.picture, pictureOf(report));
  const missed = report.goals.some(({ status }) => status === 'missed');
  return failed > 0 || (options.assert && missed) ? EXIT.failed : EXIT.ok;
}

/** @returns how many cells failed; undefined: it was interrupted */
async function play(
  plan: Plan,
  store: CellStore,
  progress: Progress,
  jobs: number,
): Promise<number | undefined> {
  // What cannot be built would fail every cell.
  builtPlimsoll();
  const stop = new AbortController();
  // each cell in play has some
  setMaxListeners(0, stop.signal);
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(INTERRUPTED);
    say('Interrupted. Finished cells are kept: run it again to go on.');
    stop.abort();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  progress.begin();
  const failed = await playPlan({
    plan,
    jobs,
    play: (spec) => playCell(spec, { attempt: attemptOf(spec) + 1, signal: stop.signal }),
    save: (spec, result) => store.save(spec, result),
    events: progress,
    signal: stop.signal,
  });
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  return stop.signal.aborted ? undefined : failed;
}

function writePicture(path: string, picture: string | undefined): void {
  if (picture === undefined) say('no picture: none of its scenarios is measured with all three of its arms');
  else writeFileSync(path, picture);
}

// ---------------------------------------------------------------- the command line

function readOptions(): Options {
  const { values } = readCommandLine(import.meta.url, {
    scenario: { type: 'string' },
    arm: { type: 'string' },
    sidecars: { type: 'string' },
    seeds: { type: 'string' },
    jobs: { type: 'string' },
    quick: { type: 'boolean', default: false },
    plan: { type: 'boolean', default: false },
    'report-only': { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
    'no-reruns': { type: 'boolean', default: false },
    'retry-disturbed': { type: 'boolean', default: false },
    picture: { type: 'string' },
    json: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
  });
  const known = values.quick ? QUICK_SCENARIOS : SCENARIOS;
  return {
    selection: {
      scenarios: values.scenario === undefined ? known : named(known, values.scenario),
      ...(values.arm !== undefined && { arms: armsOf(values.arm) }),
      ...(values.sidecars !== undefined && {
        sidecars: listOf(values.sidecars).map((text) => numberOption('--sidecars', text, UP_TO)),
      }),
      seeds: numberOption('--seeds', values.seeds ?? (values.quick ? '1' : '3'), UP_TO),
      ...(values.quick && { reruns: QUICK_RERUNS }),
      ...(values['no-reruns'] && { reruns: 0 }),
    },
    jobs: numberOption('--jobs', values.jobs ?? String(JOBS_PER_CORE * availableParallelism()), UP_TO),
    todo: values.plan ? 'plan' : values['report-only'] ? 'report' : 'play',
    keepGoing: values['keep-going'],
    retryDisturbed: values['retry-disturbed'],
    picture: values.picture,
    json: values.json,
    assert: values.assert,
  };
}

function named(known: readonly Scenario[], list: string): readonly Scenario[] {
  return listOf(list).map((name) => {
    const found = known.find((scenario) => scenario.name === name);
    if (found !== undefined) return found;
    const names = known.map((scenario) => scenario.name).join(', ');
    throw new PlimsollError('usage', `--scenario ${name}: no such scenario; there are ${names}`);
  });
}

function armsOf(list: string): readonly ArmName[] {
  return listOf(list).map((name) => {
    const found = ARMS.find((arm) => arm === name);
    if (found !== undefined) return found;
    throw new PlimsollError('usage', `--arm ${name}: no such arm; there are ${ARMS.join(', ')}`);
  });
}

function listOf(list: string): readonly string[] {
  return [...new Set(list.split(','))];
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Runs the checks, then all tests: `npm test`. With words, only the test files whose path holds one of them, and no
 * checks: `npm test -- xds`. What starts with a dash goes to `node --test`: `npm test -- xds --test-name-pattern=ACK`.
 * With `--check` the checks alone. With `--folder=NAME` the tests of that folder alone, which `npm test` leaves out;
 * its `prepare.ts`, where it has one, runs first and without a time limit: it builds what the tests need.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { helpIfAsked } from './support/command-line.ts';
import { InTurn } from './support/in-turn.ts';
import { ALONE } from './support/together.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Scripts of package.json. */
const CHECKS = ['format:check', 'lint', 'types', 'unused'];

/** Test files of one run of `node --test`, which on Node 20 takes no glob and finds no `.ts` file by itself. */
interface Stage {
  readonly folders: readonly string[];
  /** Processes at a time. */
  readonly concurrency: number;
  /** Test files that share a process, at most; default: none do. Those of {@link ALONE} never do. */
  readonly filesOfAProcess?: number;
}

/** The longest that a process may take. A timer, socket or process that it leaks keeps it until then, and fails it. */
const TIMEOUT_SECONDS = 300;

/** One after the other; those of one line side by side. */
const STAGES: readonly (readonly Stage[])[] = [
  [
    // work more than they wait
    { folders: ['unit', 'golden'], concurrency: 2, filesOfAProcess: 10 },
    // wait more than they work
    { folders: ['integration', 'faults'], concurrency: 3 },
  ],
  // measure latency under load: nothing beside them
  [{ folders: ['load'], concurrency: 1 }],
];

/** Begun first, the longest one before all, so that none of them is waited for alone at the end. */
const LONGEST = [
  'core/trust',
  'config/hostile',
  'kubernetes/objects',
  'collect/sample',
  'xds/tls',
  'core/properties',
  'xds/hostile-connections',
  'xds/fuzz',
  'bench/routing/report',
  'discovery/file',
  'commands/completion',
  'xds/frozen-clients',
  'commands/record-replay',
  'replay/replay',
  'commands/validate',
  'commands/config-reloader',
  'core/closed-loop',
  'config/parsed-list',
  'collect/hostile-backends',
  'collect/scrape',
  'integration/patience',
  'integration/pack',
  'faults/short',
  'integration/serve',
  'integration/image',
  'integration/restart',
  'integration/replicas',
  'integration/grpc-client',
  'integration/admission',
  'integration/hot-reload',
  'integration/lean-scrape',
  'integration/setup',
  'integration/shares',
  'integration/reload',
  'integration/warming',
].map((name) => `/${name}.test.ts`);

helpIfAsked(import.meta.url);
const args = process.argv.slice(2);
const onlyCheck = args.includes('--check');
const onlyFolder = args.map((arg) => /^--folder=(\w+)$/.exec(arg)?.[1]).find((name) => name !== undefined);
const options = args.filter((arg) => arg.startsWith('-') && !/^--(check|folder=\w+)$/.test(arg));
const words = args.filter((arg) => !arg.startsWith('-'));
process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  if (words.length === 0 && onlyFolder === undefined && !(await checks())) return false;
  if (onlyCheck) return true;
  const chosen = onlyFolder === undefined ? STAGES : [[{ folders: [onlyFolder], concurrency: 1 }]];
  const stages = chosen
    .map((beside) => beside.map((stage) => ({ stage, files: filesOf(stage) })))
    .map((beside) => (words.length === 0 ? beside : beside.filter(({ files }) => files.length > 0)))
    .filter((beside) => beside.length > 0);
  if (stages.length === 0) return fail(`no test file's path holds ${words.join(' or ')}`);
  if (onlyFolder !== undefined && !(await prepare(onlyFolder))) return false;
  for (const [index, beside] of stages.entries()) {
    for (const { stage, files } of beside) {
      if (files.length === 0) return fail(`no test files in ${stage.folders.join(', ')}`);
    }
    if (!(await runBeside(beside, index === stages.length - 1))) return false;
  }
  return true;
}

// ---------------------------------------------------------------- checks

async function checks(): Promise<boolean> {
  const passed = await Promise.all(CHECKS.map((name) => check(name)));
  return passed.every(Boolean);
}

async function check(name: string): Promise<boolean> {
  const started = performance.now();
  const child = spawn('npm', ['run', '--silent', name], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await endOf(child);
  if (code !== 0) process.stdout.write(Buffer.concat(output));
  console.log(`${code === 0 ? '✔' : '✖'} ${name} (${secondsSince(started)} s)`);
  return code === 0;
}

// ---------------------------------------------------------------- tests

function filesOf({ folders }: Stage): string[] {
  return folders
    .flatMap((folder) => testFiles(join('test', folder)))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .toSorted()
    .toSorted((one, other) => placeOf(one) - placeOf(other));
}

function placeOf(file: string): number {
  const place = LONGEST.findIndex((end) => file.endsWith(end));
  return place === -1 ? LONGEST.length : place;
}

function testFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name));
}

async function prepare(folder: string): Promise<boolean> {
  const program = join('test', folder, 'prepare.ts');
  if (!existsSync(join(root, program))) return true;
  const child = spawn(process.execPath, ['--import', 'tsx', program], { cwd: root, stdio: 'inherit' });
  return (await endOf(child)) === 0 || fail(`${program} failed`);
}

/**
 * In a new folder: a program for each process. Those that share one are dealt out like cards, so that the longest are in
 * different ones. Their names have the order in which `node --test` takes them.
 */
function writePrograms(folder: string, { filesOfAProcess }: Stage, files: readonly string[]): string[] {
  const sharing = filesOfAProcess === undefined ? [] : files.filter((file) => !ALONE.includes(file));
  const count = Math.ceil(sharing.length / (filesOfAProcess ?? 1));
  const parts = Array.from({ length: count }, (_, part) =>
    sharing.filter((_file, index) => index % count === part),
  );
  const alone = files.filter((file) => !sharing.includes(file));
  const importOf = (file: string): string => JSON.stringify(relative(folder, join(root, file)));
  const texts = [
    ...alone.map((file) => `import ${importOf(file)};\n`),
    ...parts.map((part) => {
      const entries = part.map((file) => `  ${JSON.stringify(file)}: () => import(${importOf(file)}),\n`);
      const together = importOf('test/support/run-together.ts');
      return `import { runTogether } from ${together};\nrunTogether({\n${entries.join('')}});\n`;
    }),
  ];
  return texts.map((text, index) => {
    const program = join(folder, `${String(index).padStart(4, '0')}.ts`);
    writeFileSync(program, text);
    return program;
  });
}

type ChosenStage = { readonly stage: Stage; readonly files: readonly string[] };

/** Each tells what it has to tell when the one before has told all. */
async function runBeside(stages: readonly ChosenStage[], isLast: boolean): Promise<boolean> {
  let turn: Promise<unknown> = Promise.resolve();
  const runs = stages.map((chosen, index) => {
    const run = runStage(chosen, turn, isLast && index === stages.length - 1);
    turn = Promise.allSettled([turn, run]);
    return run;
  });
  return (await Promise.all(runs)).every(Boolean);
}

async function runStage(
  { stage, files }: ChosenStage,
  turn: Promise<unknown>,
  isLast: boolean,
): Promise<boolean> {
  const told = new InTurn(turn, (line) => console.log(line));
  told.line(`\n${files.length} test files in ${stage.folders.join(', ')}`);
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache', 'tests-'));
  try {
    return await runPrograms(stage, writePrograms(folder, stage, files), told, isLast);
  } finally {
    rmSync(folder, { recursive: true });
    await told.turn;
  }
}

/** Shows what `node --test` says, with the time since the start before the last stage's summary. */
async function runPrograms(
  stage: Stage,
  programs: readonly string[],
  told: InTurn,
  isLast: boolean,
): Promise<boolean> {
  const limits = [`--test-concurrency=${stage.concurrency}`, `--test-timeout=${TIMEOUT_SECONDS * 1000}`];
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--test', '--test-reporter=spec', ...limits, ...options, ...programs],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = endOf(child);
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const summary = /^ℹ tests (\d+)$/.exec(stripVTControlCharacters(line));
    if (summary !== null) {
      count = Number(summary[1]);
      if (isLast) {
        await told.turn;
        told.line(`\ntotal ${secondsSince(0)} s\n`);
      }
    }
    told.line(line);
  }
  const code = await ended;
  return code === 0 && count === 0 ? fail('node --test ran no test') : code === 0;
}

/** @returns the exit code. */
function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
}

function secondsSince(startMs: number): string {
  return ((performance.now() - startMs) / 1000).toFixed(1);
}

function fail(reason: string): false {
  console.error(`✖ ${reason}`);
  return false;
}

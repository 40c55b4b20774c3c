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
import { TOGETHER } from './support/together.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Scripts of package.json. */
const CHECKS = ['format:check', 'lint', 'types', 'unused'];

/** Test files of one run of `node --test`, which on Node 20 takes no glob and finds no `.ts` file by itself. */
interface Stage {
  readonly folders: readonly string[];
  /** Files that run at a time; each is a process of its own, but for those of {@link TOGETHER}. */
  readonly concurrency: number;
}

/** The longest that a process may take. A timer, socket or process that it leaks keeps it until then, and fails it. */
const TIMEOUT_SECONDS = 300;

const STAGES: readonly Stage[] = [
  { folders: ['unit', 'golden'], concurrency: 3 },
  // wait more than they work
  { folders: ['integration', 'faults'], concurrency: 3 },
  // measure latency under load: nothing beside them
  { folders: ['load'], concurrency: 1 },
];

/** Of those of {@link TOGETHER}. */
const FILES_OF_A_PROCESS = 10;

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
  const chosen = onlyFolder === undefined ? STAGES : [{ folders: [onlyFolder], concurrency: 1 }];
  const stages = chosen.map((stage) => ({ stage, files: filesOf(stage) }));
  const wanted = words.length === 0 ? stages : stages.filter(({ files }) => files.length > 0);
  if (wanted.length === 0) return fail(`no test file's path holds ${words.join(' or ')}`);
  if (onlyFolder !== undefined && !(await prepare(onlyFolder))) return false;
  for (const [index, { stage, files }] of wanted.entries()) {
    if (files.length === 0) return fail(`no test files in ${stage.folders.join(', ')}`);
    if (!(await runStage(stage, files, index === wanted.length - 1))) return false;
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
    .toSorted();
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

/** In a new folder: programs that each import a part of these files. Every so many-th is one, as neighbours are alike. */
function writePrograms(folder: string, files: readonly string[]): string[] {
  const count = Math.ceil(files.length / FILES_OF_A_PROCESS);
  return Array.from({ length: count }, (_, part) => {
    const imports = files
      .filter((_file, index) => index % count === part)
      .map((file) => `import ${JSON.stringify(relative(folder, join(root, file)))};\n`);
    const program = join(folder, `together-${part + 1}.ts`);
    writeFileSync(program, imports.join(''));
    return program;
  });
}

async function runStage(stage: Stage, files: readonly string[], isLast: boolean): Promise<boolean> {
  console.log(`\n${files.length} test files in ${stage.folders.join(', ')}`);
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache', 'tests-'));
  try {
    const isTogether = (file: string): boolean => TOGETHER.some((start) => file.startsWith(start));
    const programs = writePrograms(folder, files.filter(isTogether));
    return await runPrograms(stage, [...programs, ...files.filter((file) => !isTogether(file))], isLast);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Shows what `node --test` says, with the time since the start before the last stage's summary. */
async function runPrograms(stage: Stage, programs: readonly string[], isLast: boolean): Promise<boolean> {
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
      if (isLast) console.log(`\ntotal ${secondsSince(0)} s\n`);
    }
    console.log(line);
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

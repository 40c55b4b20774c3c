/**
 * What a push to many sidecars costs, beside go-control-plane's LinearCache in the same run: `npm run bench:fanout`.
 *
 *     --streams 100,1000,3000   --backends 100,1000   --variants delta,sotw
 *     --rounds 3      rounds of each cell: both servers start anew and take turns
 *     --pushes 20     counted pushes to each in a round, one each second
 *     --quick         1 round of 5 pushes, at most 1,000 streams
 *     --json          the figures as JSON on standard output
 *
 * Linux only. Without `go` only our own figures are measured.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { numberList, numberOption, optionsOf, wordList } from '../../support/command-line.ts';
import { buildRival, buildServer } from './build.ts';
import { type Cell, type Effort, measureRound } from './cell.ts';
import { type CellReport, reportOf } from './report.ts';
import type { Variant } from './requests.ts';
import type { ServerCommand } from './server-process.ts';
import { formatReport } from './table.ts';

const VARIANTS: readonly Variant[] = ['delta', 'sotw'];
/** Descriptors that a process needs besides its connections. */
const SPARE_FILES = 200;

const values = optionsOf(import.meta.url, {
  streams: { type: 'string' },
  backends: { type: 'string', default: '100,1000' },
  variants: { type: 'string', default: VARIANTS.join(',') },
  rounds: { type: 'string' },
  pushes: { type: 'string' },
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});
const effort: Effort = {
  rounds: numberOption('--rounds', values.rounds ?? (values.quick ? '1' : '3')),
  pushes: numberOption('--pushes', values.pushes ?? (values.quick ? '5' : '20')),
  warmUp: 3,
  intervalMs: 1_000,
};
const streamCounts = numberList('--streams', values.streams ?? (values.quick ? '100,1000' : '100,1000,3000'));
const backendCounts = numberList('--backends', values.backends);
const variants = wordList('--variants', values.variants, VARIANTS);
const cells = streamCounts.flatMap((streams) =>
  backendCounts.flatMap((backends) => variants.map((variant): Cell => ({ streams, backends, variant }))),
);
await main();

async function main(): Promise<void> {
  const program = await buildServer();
  const rival = await buildRival(say);
  const servers = rival === undefined ? 1 : 2;
  requireFiles(Math.max(...cells.map(({ streams }) => streams)) * servers + SPARE_FILES);
  say(
    `${cells.length} cells, ${effort.rounds} rounds of ${effort.pushes} pushes, ${availableParallelism()} cores`,
  );
  const reports: CellReport[] = [];
  for (const [index, cell] of cells.entries()) {
    const report = await measure(cell, program, rival, `${index + 1}/${cells.length}`);
    reports.push(report);
    if (!values.json) console.log(formatReport(report));
  }
  if (values.json)
    console.log(JSON.stringify({ cores: availableParallelism(), effort, cells: reports }, undefined, 2));
}

async function measure(
  cell: Cell,
  program: string,
  rival: string | undefined,
  progress: string,
): Promise<CellReport> {
  const backends = String(cell.backends);
  const ours: ServerCommand = { name: 'plimsoll', command: process.execPath, args: [program, backends] };
  const theirs =
    rival === undefined ? undefined : { name: 'LinearCache', command: rival, args: ['-backends', backends] };
  const rounds: Awaited<ReturnType<typeof measureRound>>[] = [];
  for (let round = 1; round <= effort.rounds; round++) {
    say(`${progress}: ${cell.streams} streams, ${cell.backends} backends, ${cell.variant}, round ${round}`);
    rounds.push(await measureRound({ cell, ours, theirs, effort, oursFirst: round % 2 === 1 }));
  }
  return reportOf(cell, rounds);
}

/** The kernel refuses what is beyond the limit; Node and Go have already raised theirs as far as they may. */
function requireFiles(needed: number): void {
  const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  if (Number(limit) >= needed) return;
  throw new Error(
    `${needed} open files are needed and ${limit} allowed: raise ulimit -n, or use fewer --streams`,
  );
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

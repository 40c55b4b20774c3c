/**
 * `npm run bench:sizing`: what a control plane takes in all, by backends and sidecars: processor time, memory, network.
 *
 *     --backends 10,100,1000   --sidecars 10,100,1000
 *     --seconds 10             counted in each cell, after the warm-up
 *     --full                   pages are read in full (LeanScrape: false)
 *     --json                   the figures as JSON on standard output
 *
 * The built Plimsoll as a process of its own collects vLLM pages each second from backends in another process, whose load
 * moves each second, and pushes to delta streams in a third. Linux only.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { numberList, numberOption, optionsOf } from '../support/command-line.ts';
import { builtPlimsoll } from './routing/built-plimsoll.ts';
import { type Counts, Stage } from './sizing/stage.ts';

/** Until the code is warm and memory has come to rest. */
const WARM_UP_MS = 6_000;

const values = optionsOf(import.meta.url, {
  backends: { type: 'string', default: '10,100,1000' },
  sidecars: { type: 'string', default: '10,100,1000' },
  seconds: { type: 'string', default: '10' },
  full: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});
const backendCounts = numberList('--backends', values.backends);
const sidecarCounts = numberList('--sidecars', values.sidecars);
const seconds = numberOption('--seconds', values.seconds, { most: 3600 });

interface Row {
  readonly backends: number;
  readonly sidecars: number;
  /** Share of a core. */
  readonly cpu: number;
  readonly residentMb: number;
  readonly scrapesPerSecond: number;
  readonly pushesPerSecond: number;
  /** Megabit per second. */
  readonly inMbit: number;
  readonly outMbit: number;
  /** From the start of a collection until the last sidecar has acknowledged it, mean. */
  readonly delayMs: number;
}

const COLUMNS: readonly (readonly [heading: string, cell: (row: Row) => string])[] = [
  ['backends', ({ backends }) => String(backends)],
  ['sidecars', ({ sidecars }) => String(sidecars)],
  ['of a core', ({ cpu }) => `${(100 * cpu).toFixed(1)} %`],
  ['resident', ({ residentMb }) => `${residentMb.toFixed(0)} MB`],
  ['scrapes/s', ({ scrapesPerSecond }) => scrapesPerSecond.toFixed(0)],
  ['pushes/s', ({ pushesPerSecond }) => pushesPerSecond.toFixed(2)],
  ['scraped', ({ inMbit }) => `${inMbit.toFixed(2)} Mbit/s`],
  ['sent', ({ outMbit }) => `${outMbit.toFixed(2)} Mbit/s`],
  ['delay', ({ delayMs }) => `${delayMs.toFixed(0)} ms`],
];
/** Characters of a column: each line is printed as soon as its cell is done. */
const WIDTH = 15;

await main();

async function main(): Promise<void> {
  const program = builtPlimsoll();
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`;
  process.stderr.write(`${machine}, load ${loadavg()[0]?.toFixed(2)} before the run\n`);
  const rows: Row[] = [];
  if (!values.json) print(COLUMNS.map(([heading]) => heading));
  for (const backends of backendCounts) {
    for (const sidecars of sidecarCounts) {
      const row = await measure(program, backends, sidecars);
      rows.push(row);
      if (!values.json) print(COLUMNS.map(([, cell]) => cell(row)));
    }
  }
  if (values.json) process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
}

async function measure(program: string, backends: number, sidecars: number): Promise<Row> {
  const stage = await Stage.open({ program, backends, sidecars, lean: !values.full });
  try {
    await delay(WARM_UP_MS);
    const before = await stage.counts();
    await delay(seconds * 1000);
    const after = await stage.counts();
    const { residentBytes } = stage;
    const counted = (after.atMs - before.atMs) / 1000;
    const grown = (field: keyof Counts): number => after[field] - before[field];
    return {
      backends,
      sidecars,
      cpu: grown('cpuSeconds') / counted,
      residentMb: residentBytes / 1e6,
      scrapesPerSecond: grown('scrapes') / counted,
      pushesPerSecond: grown('pushes') / counted,
      inMbit: (8 * grown('scrapedBytes')) / counted / 1e6,
      outMbit: (8 * grown('sentBytes')) / counted / 1e6,
      delayMs: (1000 * grown('delaySeconds')) / grown('delays'),
    };
  } finally {
    await stage.close();
  }
}

function print(cells: readonly string[]): void {
  process.stdout.write(`${cells.map((cell) => cell.padStart(WIDTH)).join('')}\n`);
}

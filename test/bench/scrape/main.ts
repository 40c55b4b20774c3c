/**
 * What collecting costs, beside Prometheus in the same run: `npm run bench:scrape`.
 *
 *     --backends 100,500,2000   polled once a second
 *     --rounds 2      rounds of each cell, in which all take turns
 *     --seconds 15    counted in each turn; --warm-up 10 seconds before them are not
 *     --burst 5000    backends that come at once, and go at once; 0: not measured
 *     --no-exporter   do not measure what a scrape costs an exporter in Python, which is installed with pip
 *     --quick         1 round of 8 s after 5 s, at most 500 backends
 *     --json          the figures as JSON on standard output
 *
 * Linux only. Without `prometheus` only our own figures are measured.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { numberList, numberOption, optionsOf } from '../../support/command-line.ts';
import { formatDuration } from '../routing/progress.ts';
import { buildPrograms } from './build.ts';
import { judge } from './goals.ts';
import { type ExporterFigures, formatExporter, measureExporter } from './exporter.ts';
import { Bench, type BurstDelays, type Effort, type Measured, SUBJECTS, type Subject } from './measure.ts';
import { prometheusVersion } from './prometheus.ts';
import { type CellReport, type Round, reportOf } from './report.ts';
import { formatReports } from './table.ts';

/** Seconds of a turn besides those of the effort, about. */
const TURN_SECONDS = 9;

const values = optionsOf(import.meta.url, {
  backends: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  'warm-up': { type: 'string' },
  burst: { type: 'string' },
  'no-exporter': { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});
const { quick } = values;
const sizes = numberList('--backends', values.backends ?? (quick ? '100,500' : '100,500,2000'));
const rounds = numberOption('--rounds', values.rounds ?? (quick ? '1' : '2'));
const burst = numberOption('--burst', values.burst ?? (quick ? '2000' : '5000'), { least: 0 });
const effort: Effort = {
  warmUp: numberOption('--warm-up', values['warm-up'] ?? (quick ? '5' : '10'), { least: 0 }),
  seconds: numberOption('--seconds', values.seconds ?? (quick ? '8' : '15')),
};
await main();

interface Figures {
  readonly cells: readonly CellReport[];
  /** undefined: not measured */
  readonly delays: BurstDelays | undefined;
  readonly exporter: ExporterFigures | undefined;
}

async function main(): Promise<void> {
  const version = await prometheusVersion();
  if (version === undefined) say('no prometheus here: only our own figures');
  const subjects = SUBJECTS.filter((subject) => subject !== 'prometheus' || version !== undefined);
  const { cores, model, load } = machine();
  const figures = await measureEverything(subjects);
  if (values.json) {
    const machineOf = { cores, model, load, prometheus: version, effort };
    console.log(JSON.stringify({ ...machineOf, ...figures }, undefined, 2));
  } else {
    console.log(format(figures).join('\n'));
  }
}

async function measureEverything(subjects: readonly Subject[]): Promise<Figures> {
  const bench = await Bench.start(await buildPrograms(), Math.max(burst, ...sizes));
  try {
    const cells = await measureAll(bench, subjects);
    const delays = burst === 0 ? undefined : await bench.burst(burst);
    const exporter = values['no-exporter'] ? undefined : await measureExporter();
    return { cells, delays, exporter };
  } finally {
    await bench.stop();
  }
}

function format({ cells, delays, exporter }: Figures): readonly string[] {
  const lines = [...formatReports(cells), '', ...judge(cells)];
  if (delays !== undefined) {
    const { joinMs, leaveMs } = delays;
    lines.push(
      `${burst} backends at once, the event loop late by at most: ${joinMs.toFixed(0)} ms when they come, ${leaveMs.toFixed(0)} ms when they go`,
    );
  }
  return exporter === undefined ? lines : [...lines, '', ...formatExporter(exporter)];
}

async function measureAll(bench: Bench, subjects: readonly Subject[]): Promise<readonly CellReport[]> {
  const { cores, model, load } = machine();
  const turns = sizes.length * rounds * subjects.length;
  const left = (done: number): string =>
    formatDuration((turns - done) * (effort.warmUp + effort.seconds + TURN_SECONDS));
  say(`${cores} cores, ${model}, load ${load}, Node ${process.version}; ${turns} turns, ${left(0)}`);
  const reports: CellReport[] = [];
  let done = 0;
  for (const backends of sizes) {
    const played: Round[] = [];
    for (let round = 0; round < rounds; round++) {
      const turn: Partial<Record<Subject, Measured>> = {};
      for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
        const measured = await bench.measure(subject, backends, effort);
        turn[subject] = measured;
        say(`${++done}/${turns} ${backends} backends, ${subject}: ${inWords(measured)}; ${left(done)} left`);
      }
      played.push(complete(turn));
    }
    reports.push(reportOf(backends, played));
  }
  return reports;
}

function inWords({ cpuSeconds, collector }: Measured): string {
  const failures = collector?.failures ?? 0;
  const failed = failures === 0 ? '' : `, ${failures} collections FAILED`;
  return `${(cpuSeconds * 1000).toFixed(0)} ms of 1,000 scrapes${failed}`;
}

function complete({ full, lean, prometheus }: Partial<Record<Subject, Measured>>): Round {
  if (full === undefined || lean === undefined) throw new Error('a turn is missing');
  return { full, lean, prometheus };
}

function machine(): { readonly cores: number; readonly model: string; readonly load: string } {
  const [minute = Number.NaN] = loadavg();
  return {
    cores: availableParallelism(),
    model: cpus()[0]?.model ?? 'unknown',
    load: minute.toFixed(1),
  };
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

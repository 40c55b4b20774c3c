/**
 * The control plane for hours, with all that happens to it: `npm run soak -- --hours 1`. What is measured, and how the slope
 * of memory is computed, is in test/soak/README.md.
 *
 *     --hours H       how long, 0.05 to 168; below 45 minutes the slope of memory is told and not judged
 *     --seed N        of churn and faults, default 1
 *     --json FILE     writes all that was measured, with a time series of at most 10,080 rows
 *     --no-faults     churn alone
 *     --only WORD     only faults whose part or name holds the word
 *     --program FILE  another Plimsoll: its main.js
 *     --backends N, --sidecars N, --rate N     default 200, 50, 40 requests a second
 *
 * Progress comes on standard error, the report on standard output. Exit code 1 when memory grows by 1 MB an hour or more, a
 * request failed that no fault had claimed, or files stay open. Linux only.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { EXIT, messageOf } from '../../src/runtime/errors.ts';
import { builtPlimsoll } from '../bench/routing/built-plimsoll.ts';
import type { Row } from '../faults/model.ts';
import { ROWS } from '../faults/rows/all.ts';
import { numberOption, readCommandLine } from '../support/command-line.ts';
import { Progress } from './progress.ts';
import { reportJson, reportText, type SoakResult } from './report.ts';
import { sidecarRows } from './sidecar-rows.ts';
import { soak } from './soak.ts';
import { judge } from './verdict.ts';

const HOURS = { least: 0.05, most: 168 } as const;
const INTERRUPTED = 130;

/** A row that takes minutes, and the hours from which there is time for it. */
const LONG = { name: 'control-plane: killed and restarted 20 times', fromHours: 0.5 } as const;
/** Rows of the fault table, as `part: name`, in which the process of the control plane ends. */
const ENDING: ReadonlySet<string> = new Set(['control-plane: killed and restarted', LONG.name]);
/**
 * Rows whose statement does not hold here. Of hundreds of backends the heap is larger than what the first one allows. Those
 * with gauges that are stuck need engines that requests wake, and here they are too few for that; half of the fleet, while
 * others are dead by churn, is more than half, and then requests are refused, as is stated. The one that is left in the last
 * row is saturated at times by the load that is made up for it: then all are, and requests are refused.
 */
const UNFIT: ReadonlySet<string> = new Set([
  'control-plane: memory limit near',
  'backends: frozen at saturated',
  'backends: all frozen at saturated',
  'operator: all but one removed',
]);

process.exitCode = await main();

interface Options {
  readonly hours: number;
  readonly seed: number;
  readonly json: string | undefined;
  readonly faults: boolean;
  readonly only: string;
  readonly program: string | undefined;
  readonly size: SoakResult['size'];
}

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions();
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return EXIT.usage;
  }
  const { hours, seed, json, size } = options;
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(INTERRUPTED);
    stop.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const wanted = (row: Row): boolean =>
    options.faults && fits(row, hours) && nameOf(row).includes(options.only);
  const rows = ROWS.filter(wanted);
  const outcome = await soak({
    size,
    seconds: 3600 * hours,
    seed,
    program: options.program ?? builtPlimsoll(),
    restarting: rows.filter(endsPlane),
    others: ({ sidecars }) => [
      ...rows.filter((row) => !endsPlane(row)),
      ...sidecarRows(sidecars).filter(wanted),
    ],
    progress: new Progress(process.stderr, 3600 * hours),
    signal: stop.signal,
  });
  const result: SoakResult = {
    seed,
    hours,
    size,
    machine: `${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`,
    interrupted: stop.signal.aborted,
    measured: outcome.measured,
    verdict: judge(outcome.measured),
    ledger: outcome.ledger,
    requests: outcome.requests,
    churn: outcome.churn,
    delays: outcome.sampler.delays,
  };
  process.stdout.write(reportText(result));
  if (json !== undefined) writeFileSync(json, reportJson(result));
  return result.interrupted || result.verdict.broken.length > 0 ? EXIT.failed : EXIT.ok;
}

function nameOf({ part, name }: Row): string {
  return `${part}: ${name}`;
}

function endsPlane(row: Row): boolean {
  return ENDING.has(nameOf(row));
}

function fits(row: Row, hours: number): boolean {
  const name = nameOf(row);
  return row.needsLab !== true && !UNFIT.has(name) && (name !== LONG.name || hours >= LONG.fromHours);
}

function readOptions(): Options {
  const { values } = readCommandLine(import.meta.url, {
    hours: { type: 'string' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
    'no-faults': { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    program: { type: 'string' },
    backends: { type: 'string', default: '200' },
    sidecars: { type: 'string', default: '50' },
    rate: { type: 'string', default: '40' },
  });
  const hours = Number(values.hours);
  if (!(hours >= HOURS.least && hours <= HOURS.most))
    throw new Error(`--hours: ${HOURS.least} to ${HOURS.most}, not ${values.hours ?? 'left out'}`);
  return {
    hours,
    seed: numberOption('--seed', values.seed, { least: 0, most: 2 ** 31 }),
    json: values.json,
    faults: !values['no-faults'],
    only: values.only,
    program: values.program,
    size: {
      backends: numberOption('--backends', values.backends, { least: 20, most: 1000 }),
      sidecars: numberOption('--sidecars', values.sidecars, { most: 1000 }),
      rate: numberOption('--rate', values.rate, { most: 1000 }),
    },
  };
}

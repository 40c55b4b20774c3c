import { formatTable } from '../../src/demo/table.ts';
import type { BucketSum } from './bucket-sum.ts';
import type { ChurnCounts } from './churn.ts';
import type { Ledger } from './ledger.ts';
import { byWindow, least, middle } from './trend.ts';
import { errorPerHour, type Growth, type Measured, perHour, type Verdict } from './verdict.ts';

/** All that a soak has to tell. */
export interface SoakResult {
  readonly seed: number;
  readonly hours: number;
  readonly machine: string;
  readonly size: { readonly backends: number; readonly sidecars: number; readonly rate: number };
  readonly interrupted: boolean;
  readonly measured: Measured;
  readonly verdict: Verdict;
  readonly ledger: Pick<Ledger, 'own' | 'ours' | 'examples' | 'accounts'>;
  readonly requests: number;
  readonly churn: ChurnCounts;
  readonly delays: { readonly calm: BucketSum; readonly faulty: BucketSum };
}

const MEBIBYTE = 1024 * 1024;
const EXAMPLES = 10;
/** Of the course of resident memory, in seconds. */
const MINUTE = 60;

/** The report, for people. */
export function reportText(result: SoakResult): string {
  const { measured, verdict, ledger, churn, size, delays } = result;
  const pushes = pushesOf(measured);
  const lines = [
    `Soak of ${result.hours} h, seed ${result.seed}${result.interrupted ? ', interrupted' : ''}: ${result.machine}`,
    `${size.backends} backends, ${size.sidecars} simulated sidecars, 2 Envoys with ${size.rate} requests a second, Interval 1`,
    '',
    `requests     ${result.requests}, failed by faults ${ledger.own}, by us ${ledger.ours}`,
    `churn        ${churn.deaths} backends died and came back, ${churn.reloads} reloads, ${churn.reconnects} reconnects of sidecars`,
    `heap         ${growthText(verdict.heap, 'least of each window, after a collection of garbage')}`,
    `of it code   ${growthText(verdict.code, 'made by V8, in the heap')}`,
    `resident     ${growthText(verdict.rss, 'least of each window, looked at each second')}`,
    `as it is     ${growthText(verdict.usualRss, 'middle of each window, with garbage')}`,
    `             by least squares over ${minutes(verdict.watchedSeconds)} min of one process, after ${minutes(verdict.warmSeconds)} min of warm-up${verdict.judged ? '' : '; too short to be judged'}`,
    `open files   ${measured.filesBefore ?? '–'} at rest before the faults, ${measured.filesAfter ?? '–'} after; ${rangeOf(measured)} meanwhile`,
    `event loop   ${delayText(delays.calm)}; while a fault goes on ${delayText(delays.faulty)}`,
    `pushes       ${pushes.count}, ${pushes.perSecond.toFixed(2)} a second`,
    '',
    ...faultLines(result),
    ...(ledger.examples.length === 0 ? [] : ['', 'Failed by us, the first:', ...exampleLines(ledger)]),
    '',
    verdict.broken.length === 0
      ? 'It holds.'
      : `It does not hold:\n${verdict.broken.map((one) => `- ${one}`).join('\n')}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** The same and the course of every figure, for programs. */
export function reportJson(result: SoakResult): string {
  const { measured, verdict, ledger, delays, ...rest } = result;
  const { samples, resident, faults, ...figures } = measured;
  return `${JSON.stringify(
    {
      ...rest,
      ...figures,
      verdict: {
        broken: verdict.broken,
        judged: verdict.judged,
        warmSeconds: verdict.warmSeconds,
        watchedSeconds: verdict.watchedSeconds,
        heapMegabytesPerHour: perHour(verdict.heap),
        heapStandardError: errorPerHour(verdict.heap),
        codeMegabytesPerHour: perHour(verdict.code),
        codeStandardError: errorPerHour(verdict.code),
        residentMegabytesPerHour: perHour(verdict.rss),
        residentStandardError: errorPerHour(verdict.rss),
        usualResidentMegabytesPerHour: perHour(verdict.usualRss),
        usualResidentStandardError: errorPerHour(verdict.usualRss),
      },
      failed: { own: ledger.own, ours: ledger.ours, examples: ledger.examples },
      eventLoop: { calm: delaysOf(delays.calm), faulty: delaysOf(delays.faulty) },
      faults: Object.fromEntries(
        [...ledger.accounts].map(([name, account]) => [name, { ...faults.get(name), ...account }]),
      ),
      samples,
      resident: { least: byWindow(resident, MINUTE, least), middle: byWindow(resident, MINUTE, middle) },
    },
    null,
    1,
  )}\n`;
}

function growthText(growth: Growth, of: string): string {
  const slope = perHour(growth);
  if (Number.isNaN(slope)) return 'too few windows for a slope';
  const error = errorPerHour(growth);
  const [first, last] = [growth.windows[0]?.value ?? 0, growth.windows.at(-1)?.value ?? 0];
  const off = Number.isNaN(error) ? '' : ` (standard error ${error.toFixed(2)})`;
  return `${signed(slope)} MB/h${off}, ${mebibytes(first)} to ${mebibytes(last)} MiB, ${growth.windows.length} windows: ${of}`;
}

function faultLines({ measured, ledger }: SoakResult): readonly string[] {
  const rows = [...ledger.accounts].map(([name, { times, own, ours }]) => {
    const record = measured.faults.get(name);
    const back = record === undefined ? '' : record.backSeconds.toFixed(1);
    return [
      name,
      String(times),
      String(record?.requests ?? ''),
      String(own),
      String(ours),
      String(record?.pushes ?? ''),
      back,
    ];
  });
  return formatTable(
    ['<fault', 'times', 'requests', 'failed by it', 'by us', 'pushes', 'back after, s'],
    rows,
  );
}

function exampleLines({ examples }: Pick<Ledger, 'examples'>): readonly string[] {
  return examples
    .slice(0, EXAMPLES)
    .map(({ kind, detail, during }) => `- ${kind}: ${detail}; during ${during.join(', ') || 'no fault'}`);
}

function pushesOf({ samples }: Measured): { readonly count: number; readonly perSecond: number } {
  let count = 0;
  for (const [index, { pushes, generation }] of samples.entries()) {
    const before = samples[index - 1];
    if (pushes === null) continue;
    if (before?.generation !== generation || before.pushes === null) continue;
    // the counter of a group that has another name now begins anew
    count += pushes < before.pushes ? pushes : pushes - before.pushes;
  }
  const watched = (samples.at(-1)?.seconds ?? 0) - (samples[0]?.seconds ?? 0);
  return { count, perSecond: watched === 0 ? 0 : count / watched };
}

function rangeOf({ samples }: Measured): string {
  const files = samples.flatMap(({ files: of }) => of ?? []);
  return files.length === 0 ? '–' : `${Math.min(...files)} to ${Math.max(...files)}`;
}

function delayText(sum: BucketSum): string {
  const { p99, most, looks } = delaysOf(sum);
  if (looks === 0) return 'not looked at';
  return `p99 at most ${boundText(p99)}, longest at most ${boundText(most)} of ${looks} looks`;
}

function delaysOf(sum: BucketSum) {
  return { p99: sum.quantile(0.99), most: sum.quantile(1), looks: sum.count };
}

/** Of a bucket's bound. */
function boundText(bound: number): string {
  return bound === Infinity ? 'more than 2.5 s' : `${bound * 1000} ms`;
}

function minutes(of: number): string {
  return (of / 60).toFixed(1);
}

function mebibytes(bytes: number): string {
  return (bytes / MEBIBYTE).toFixed(1);
}

function signed(value: number): string {
  return value < 0 ? `−${Math.abs(value).toFixed(2)}` : `+${value.toFixed(2)}`;
}

/**
 * `npm run bench:delay`: how long it takes from the start of a collection until every Envoy has applied what it changed,
 * and where the time goes. The control plane and each Envoy are processes of their own; the backends, in this one, show
 * metrics pages of vLLM's size with a load that changes at each collection, so that each collection causes a push.
 *
 * The delays are the control plane's own, exact: sums of its histograms, read between two collections, as soon as there
 * is one more. Where a delay reaches into the next collection and both are read at once, each counts as their mean, and
 * how many those were is printed: p99 is then too small.
 *
 *     --backends 100   --sidecars 4
 *     --pushes 60      collections of each half, of which each causes a push
 *     --json           the figures as JSON on standard output
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlPlane } from '../../src/demo/control-plane.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { quantile } from '../../src/demo/quantile.ts';
import { formatTable } from '../../src/demo/table.ts';
import { sleep, systemClock } from '../../src/runtime/clock.ts';
import { Cleanups } from '../support/cleanups.ts';
import { numberOption, optionsOf } from '../support/command-line.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { bootstrapOf, configure, startBackends, yamlOf } from '../support/voyage.ts';
import { AlternatingLoad, SLOW_MS } from './delay/alternating-load.ts';

const values = optionsOf(import.meta.url, {
  backends: { type: 'string', default: '100' },
  sidecars: { type: 'string', default: '4' },
  pushes: { type: 'string', default: '60' },
  json: { type: 'boolean', default: false },
});
const sizes = {
  backends: numberOption('--backends', values.backends, { least: 2 }),
  sidecars: numberOption('--sidecars', values.sidecars),
  pushes: numberOption('--pushes', values.pushes),
};

const GROUP = '{server_group="llama"}';
const PHASE = 'plimsoll_server_group_apply_phase_seconds';
const phase = (name: string): Series => ({
  sum: `${PHASE}_sum{server_group="llama",phase="${name}"}`,
  count: `${PHASE}_count{server_group="llama",phase="${name}"}`,
});
const histogram = (name: string): Series => ({
  sum: `${name}_sum${GROUP}`,
  count: `${name}_count${GROUP}`,
});
const LAST_ACK = histogram('plimsoll_server_group_apply_delay_seconds');
/** The columns, and the histograms that they are differences of. */
const DELAYS = {
  'first ACK': histogram('plimsoll_server_group_ack_seconds'),
  'last ACK': LAST_ACK,
  collect: phase('collect'),
  publish: phase('publish'),
  sidecars: phase('sidecars'),
} as const;
type Column = keyof typeof DELAYS;
const COLUMNS = Object.keys(DELAYS) as readonly Column[];

/** The page is read this long after a collection began: half an interval. */
const READ_AFTER_MS = 500;
/** And again after this, while the last ACK has not come. */
const READ_AGAIN_MS = 50;
/** Those in which sidecars come are not counted. */
const FIRST_COLLECTIONS = 5;

/** A histogram's own series. */
interface Series {
  readonly sum: string;
  readonly count: string;
}

/** What was seen of the counted collections. */
interface Seen {
  /** Milliseconds of each push. */
  readonly delays: Readonly<Record<Column, readonly number[]>>;
  /** Pushes that were read together with another one. */
  readonly together: number;
}

interface Cell {
  readonly name: string;
  readonly slow: boolean;
}

const CELLS: readonly Cell[] = [
  { name: 'all answer at once', slow: false },
  { name: `one hangs, one takes ${SLOW_MS} ms`, slow: true },
];

const reports: (Seen & { readonly cell: string })[] = [];
console.error(
  `${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ` +
    `load ${loadavg()[0]?.toFixed(2)} before the run`,
);
for (const cell of CELLS) reports.push({ cell: cell.name, ...(await measure(cell)) });
if (values.json) console.log(JSON.stringify({ ...sizes, reports }, undefined, 2));
else print();

function print(): void {
  console.log(
    `${sizes.backends} backends, ${sizes.sidecars} Envoys, ${sizes.pushes} pushes; ms from the start of a collection`,
  );
  const rows = reports.flatMap(({ cell, delays }) =>
    ([0.5, 0.99] as const).map((q) => [
      q === 0.5 ? cell : '',
      `p${q * 100}`,
      ...COLUMNS.map((column) => quantile(delays[column], q).toFixed(1)),
    ]),
  );
  for (const line of formatTable(['<backends', '', ...COLUMNS], rows)) console.log(line);
  for (const { cell, delays, together } of reports) {
    const seen = `${delays['last ACK'].length} pushes seen after ${sizes.pushes} collections`;
    console.log(`${cell}: ${seen}, ${together} of them together with another`);
  }
}

async function measure(cell: Cell): Promise<Seen> {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-delay-'));
  const cleanups = new Cleanups();
  cleanups.add(() => rm(folder, { recursive: true, force: true }));
  try {
    const backends = Array.from(
      { length: sizes.backends },
      (_, index) => new GaugeBackend(`127.0.40.${index + 1}`),
    );
    await startBackends(backends, cleanups);
    const collections = new AlternatingLoad(backends, cell.slow);
    const config = join(folder, 'plimsoll.yaml');
    await writeFile(config, `${yamlOf({ backends })}Log: {Format: json}\n`);
    const plane = await cleanups.own(ControlPlane.start({ config }), (started) => started.kill());
    await startSidecars(backends, plane, cleanups);
    return await readDelays(plane, collections);
  } finally {
    await cleanups.run();
  }
}

async function startSidecars(
  backends: readonly GaugeBackend[],
  plane: ControlPlane,
  cleanups: Cleanups,
): Promise<void> {
  const port = Number(plane.xds.slice(plane.xds.lastIndexOf(':') + 1));
  const bootstrap = bootstrapOf(configure({ backends }), port, 'eds');
  for (let number = 0; number < sizes.sidecars; number++) {
    await cleanups.own(Envoy.start({ bootstrap }), (envoy) => envoy.stop());
  }
}

/** What each push adds to the sums. */
async function readDelays(plane: ControlPlane, collections: AlternatingLoad): Promise<Seen> {
  const delays: Record<Column, number[]> = {
    'first ACK': [],
    'last ACK': [],
    collect: [],
    publish: [],
    sidecars: [],
  };
  let together = 0;
  for (let skipped = 0; skipped < FIRST_COLLECTIONS; skipped++) await collections.next();
  await sleep(systemClock, READ_AFTER_MS);
  let before = await readSeries(plane);
  let next = collections.next();
  for (let collection = 0; collection < sizes.pushes; collection++) {
    await next;
    next = collections.next();
    const after = await readWithPush(plane, before, next);
    for (const column of COLUMNS) delays[column].push(...meansBetween(before, after, DELAYS[column]));
    const pushes = countBetween(before, after, LAST_ACK);
    if (pushes > 1) together += pushes;
    before = after;
  }
  const seen = delays['last ACK'].length;
  if (seen < sizes.pushes / 2) throw new Error(`${seen} pushes seen, ${sizes.pushes} are needed`);
  return { delays, together };
}

/** The page as it is once a push more is in it, at the latest when the next collection begins. */
async function readWithPush(plane: ControlPlane, before: Page, next: Promise<void>): Promise<Page> {
  const begun = new AbortController();
  void next.then(() => {
    begun.abort();
  });
  await sleep(systemClock, READ_AFTER_MS, begun.signal);
  for (;;) {
    const page = await readSeries(plane);
    if (begun.signal.aborted || countBetween(before, page, LAST_ACK) > 0) return page;
    await sleep(systemClock, READ_AGAIN_MS, begun.signal);
  }
}

type Page = ReadonlyMap<string, number>;

/** So many milliseconds for each that was observed between the two: all the mean. */
function meansBetween(before: Page, after: Page, series: Series): readonly number[] {
  const count = countBetween(before, after, series);
  const seconds = (after.get(series.sum) ?? Number.NaN) - (before.get(series.sum) ?? 0);
  return Array.from({ length: count }, () => (1000 * seconds) / count);
}

function countBetween(before: Page, after: Page, { count }: Series): number {
  return (after.get(count) ?? 0) - (before.get(count) ?? 0);
}

async function readSeries(plane: ControlPlane): Promise<Page> {
  const wanted = new Set(Object.values(DELAYS).flatMap(({ sum, count }) => [sum, count]));
  return new Map(
    (await plane.metrics()).split('\n').flatMap((line): [string, number][] => {
      const cut = line.lastIndexOf(' ');
      const series = line.slice(0, cut);
      return wanted.has(series) ? [[series, Number(line.slice(cut + 1))]] : [];
    }),
  );
}

/**
 * `npm run bench:delay`: how long it takes from the start of a collection until every Envoy has applied what it changed,
 * and where the time goes. The control plane and each Envoy are processes of their own; the backends, in this one, show
 * metrics pages of vLLM's size with a load that changes at each collection, so that each collection causes a push.
 *
 * The delays are the control plane's own, exact: sums of its histograms, read once between two collections.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ControlPlane } from '../../src/demo/control-plane.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { quantile } from '../../src/demo/quantile.ts';
import { formatTable } from '../../src/demo/table.ts';
import { sleep, systemClock } from '../../src/runtime/clock.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { bootstrapOf, configure, startBackends, yamlOf } from '../support/voyage.ts';
import { AlternatingLoad, SLOW_MS } from './delay/alternating-load.ts';

const { values } = parseArgs({
  options: {
    backends: { type: 'string', default: '100' },
    sidecars: { type: 'string', default: '4' },
    pushes: { type: 'string', default: '60' },
    json: { type: 'boolean', default: false },
  },
});
const sizes = {
  backends: Number(values.backends),
  sidecars: Number(values.sidecars),
  pushes: Number(values.pushes),
};

const GROUP = '{server_group="llama"}';
const COUNT = `plimsoll_server_group_apply_delay_seconds_count${GROUP}`;
const phase = (name: string): string =>
  `plimsoll_server_group_apply_phase_seconds_sum{server_group="llama",phase="${name}"}`;
/** The columns, and the series that they are differences of. */
const DELAYS = {
  'first ACK': `plimsoll_server_group_ack_seconds_sum${GROUP}`,
  'last ACK': `plimsoll_server_group_apply_delay_seconds_sum${GROUP}`,
  collect: phase('collect'),
  publish: phase('publish'),
  sidecars: phase('sidecars'),
} as const;
type Column = keyof typeof DELAYS;
const COLUMNS = Object.keys(DELAYS) as readonly Column[];

/** Page reads come this long after a collection began: half an interval. */
const READ_AFTER_MS = 500;

/** Milliseconds of each push. */
type Delays = Readonly<Record<Column, readonly number[]>>;

interface Cell {
  readonly name: string;
  readonly slow: boolean;
}

const CELLS: readonly Cell[] = [
  { name: 'all answer at once', slow: false },
  { name: `one hangs, one takes ${SLOW_MS} ms`, slow: true },
];

const reports: { readonly cell: string; readonly delays: Delays }[] = [];
console.error(
  `${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ` +
    `load ${loadavg()[0]?.toFixed(2)} before the run`,
);
for (const cell of CELLS) reports.push({ cell: cell.name, delays: await measure(cell) });
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
}

async function measure(cell: Cell): Promise<Delays> {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-delay-'));
  const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const backends = Array.from(
      { length: sizes.backends },
      (_, index) => new GaugeBackend(`127.0.40.${index + 1}`),
    );
    undo.unshift(() => Promise.all(backends.map((backend) => backend.stop())));
    await startBackends(backends);
    const collections = new AlternatingLoad(backends, cell.slow);
    const config = join(folder, 'plimsoll.yaml');
    await writeFile(config, `${yamlOf({ backends })}Log: {Format: json}\n`);
    const plane = await ControlPlane.start({ config });
    undo.unshift(() => plane.kill());
    await startSidecars(backends, plane, undo);
    return await readDelays(plane, collections);
  } finally {
    for (const step of undo) await step();
  }
}

async function startSidecars(
  backends: readonly GaugeBackend[],
  plane: ControlPlane,
  undo: (() => Promise<unknown>)[],
): Promise<void> {
  const port = Number(plane.xds.slice(plane.xds.lastIndexOf(':') + 1));
  const bootstrap = bootstrapOf(configure({ backends }), port, 'eds');
  for (let number = 0; number < sizes.sidecars; number++) {
    const envoy = await Envoy.start({ bootstrap });
    undo.unshift(() => envoy.stop());
  }
}

/** What each push adds to the sums; the first ones, at which sidecars come, are left out. */
async function readDelays(plane: ControlPlane, collections: AlternatingLoad): Promise<Delays> {
  const delays: Record<Column, number[]> = {
    'first ACK': [],
    'last ACK': [],
    collect: [],
    publish: [],
    sidecars: [],
  };
  let before: ReadonlyMap<string, number> | undefined;
  for (let left = sizes.pushes + 5; left > 0; left--) {
    await collections.next();
    await sleep(systemClock, READ_AFTER_MS);
    const after = readSeries(await plane.metrics());
    const pushes = (after.get(COUNT) ?? 0) - (before?.get(COUNT) ?? 0);
    if (before !== undefined && pushes === 1 && left <= sizes.pushes) {
      for (const column of COLUMNS) {
        const series = DELAYS[column];
        delays[column].push(1000 * ((after.get(series) ?? Number.NaN) - (before.get(series) ?? Number.NaN)));
      }
    }
    before = after;
  }
  const seen = delays.collect.length;
  if (seen < sizes.pushes / 2) throw new Error(`${seen} pushes seen, ${sizes.pushes} are needed`);
  return delays;
}

function readSeries(page: string): ReadonlyMap<string, number> {
  const wanted = new Set<string>([COUNT, ...Object.values(DELAYS)]);
  return new Map(
    page.split('\n').flatMap((line): [string, number][] => {
      const cut = line.lastIndexOf(' ');
      const series = line.slice(0, cut);
      return wanted.has(series) ? [[series, Number(line.slice(cut + 1))]] : [];
    }),
  );
}

/**
 * What the control plane needs, as it is built and with what its image gives Node: `npm run bench:footprint`.
 *
 *     --only start,idle,memory   only those
 *     --seconds 60               that idle processor time is measured over
 *     --minutes 3                after which memory is looked at, for a minute
 *     --json                     the figures as JSON instead of a table
 *     --program FILE             another Plimsoll: its main.js
 *
 * Linux only.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBackends } from '../../src/demo/backend.ts';
import { ControlPlane } from '../../src/demo/control-plane.ts';
import { quantile } from '../../src/demo/quantile.ts';
import { formatTable } from '../../src/demo/table.ts';
import { sleep, systemClock } from '../../src/runtime/clock.ts';
import { configurationOf, GROUP } from '../faults/configuration.ts';
import { Fleet } from '../soak/fleet.ts';
import { Sidecars } from '../soak/sidecars.ts';
import { numberOption, optionsOf, wordList } from '../support/command-line.ts';
import { imageEnvironment, imageNodeOptions } from '../support/image.ts';
import { freePorts } from '../support/ports.ts';
import { builtPlimsoll } from './routing/built-plimsoll.ts';
import { processorSeconds } from './routing/processor-time.ts';

/** Rows of the table: what is measured, with what is aimed at. */
interface Row {
  readonly what: string;
  readonly measured: string;
  readonly aim: string;
}

const STARTS = 9;
const BACKENDS = 100;
const SIDECARS = 10;
const IDLE_BACKENDS = 10;
/** What a process does in its first seconds is not what it does in its days. */
const WARM_MS = 20_000;
const LOOK_MS = 5_000;
const LOOKED_MS = 60_000;

const values = optionsOf(import.meta.url, {
  only: { type: 'string', default: 'start,idle,memory' },
  seconds: { type: 'string', default: '60' },
  minutes: { type: 'string', default: '3' },
  json: { type: 'boolean', default: false },
  program: { type: 'string' },
});
const idleSeconds = numberOption('--seconds', values.seconds, { most: 3600 });
const memoryMinutes = numberOption('--minutes', values.minutes, { most: 600, whole: false, least: 0.1 });
const only = wordList('--only', values.only, ['start', 'idle', 'memory']);
const program = values.program ?? builtPlimsoll();
const env = { ...imageEnvironment(), NODE_OPTIONS: imageNodeOptions().join(' ') };
console.error(
  `${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ` +
    `load ${loadavg()[0]?.toFixed(2)} before the run`,
);
const parts: Readonly<Record<string, () => Promise<Row>>> = {
  start: startToReady,
  idle: idleProcessor,
  memory,
};
const rows: Row[] = [];
for (const [name, measure] of Object.entries(parts)) {
  if (only.some((part) => part === name)) rows.push(await measure());
}
if (values.json) console.log(JSON.stringify(rows, undefined, 2));
else {
  const cells = rows.map(({ what, measured, aim }) => [what, measured, aim]);
  for (const line of formatTable(['<what', '<measured', '<aim'], cells)) console.log(line);
}

/** From the start of the process until it says that it is ready. */
async function startToReady(): Promise<Row> {
  const seconds: number[] = [];
  const processor: number[] = [];
  await withFleet(BACKENDS, async (config) => {
    for (let start = 0; start < STARTS; start++) {
      const startedMs = systemClock.now();
      const plane = await ControlPlane.start({ config, program, env });
      seconds.push((systemClock.now() - startedMs) / 1000);
      processor.push(processorSeconds([plane.pid]));
      await plane.kill();
    }
  });
  const [median, fastest, slowest] = [0.5, 0, 1].map((q) => quantile(seconds, q).toFixed(2));
  return {
    what: `start to ready, ${BACKENDS} backends`,
    measured: `${median} s (${fastest} to ${slowest} in ${STARTS} starts), ${quantile(processor, 0.5).toFixed(2)} s of processor time`,
    aim: '1.5 s',
  };
}

/** With engines that stand idle, whose pages are as large as those of vLLM, and one sidecar. */
async function idleProcessor(): Promise<Row> {
  const backends = await startBackends(IDLE_BACKENDS);
  try {
    return await withConfiguration(backends, async (config, xdsPort) => {
      const plane = await ControlPlane.start({ config, program, env });
      const sidecars = await Sidecars.start(1, xdsPort, GROUP);
      await sleep(systemClock, WARM_MS);
      const before = processorSeconds([plane.pid]);
      const startedMs = systemClock.now();
      await sleep(systemClock, 1000 * idleSeconds);
      const used = processorSeconds([plane.pid]) - before;
      const share = (1000 * used) / (systemClock.now() - startedMs);
      await sidecars.stop();
      await plane.kill();
      return {
        what: `processor, ${IDLE_BACKENDS} idle backends at Interval 1, 1 sidecar`,
        measured: `${(100 * share).toFixed(2)} % of a core over ${idleSeconds} s`,
        aim: '1 %',
      };
    });
  } finally {
    await Promise.all(backends.map((backend) => backend.stop()));
  }
}

/** With load that moves, so that each collection is followed by a push. */
function memory(): Promise<Row> {
  return withFleet(BACKENDS, async (config, xdsPort) => {
    const plane = await ControlPlane.start({ config, program, env });
    const sidecars = await Sidecars.start(SIDECARS, xdsPort, GROUP);
    await sleep(systemClock, 60_000 * memoryMinutes);
    const resident: number[] = [];
    for (let left = LOOKED_MS; left > 0; left -= LOOK_MS) {
      resident.push(residentBytes(plane.pid));
      await sleep(systemClock, LOOK_MS);
    }
    await sidecars.stop();
    await plane.kill();
    const [median, most] = [0.5, 1].map((q) => (quantile(resident, q) / 1e6).toFixed(0));
    return {
      what: `resident memory, ${BACKENDS} backends, ${SIDECARS} sidecars, a push a second`,
      measured: `${median} MB (at most ${most}) after ${memoryMinutes} min`,
      aim: '150 MB',
    };
  });
}

async function withFleet<T>(
  backends: number,
  measure: (config: string, xdsPort: number) => Promise<T>,
): Promise<T> {
  const fleet = await Fleet.start(backends);
  try {
    return await withConfiguration(fleet.places, measure);
  } finally {
    await fleet.stop();
  }
}

async function withConfiguration<T>(
  places: readonly { readonly address: string; readonly port: number }[],
  measure: (config: string, xdsPort: number) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-footprint-'));
  try {
    const [xdsPort = 0, adminPort = 0, listenerPort = 0] = await freePorts(3);
    const config = join(folder, 'plimsoll.yaml');
    const fixed = { xds: `127.0.0.1:${xdsPort}`, admin: `127.0.0.1:${adminPort}`, listenerPort };
    await writeFile(config, configurationOf(places, fixed, {}));
    return await measure(config, xdsPort);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return 1024 * Number(kilobytes);
}

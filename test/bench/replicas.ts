/**
 * `npm run bench:replicas`: how long two replicas differ after one of them was restarted. Two control planes, an Envoy at
 * each, and simulated vLLM backends of which half have half the speed, under steady load.
 *
 *     --before 300    seconds until one is restarted, in whole minutes
 *     --after 900     seconds after it, likewise
 *     --load 0.6      of what the backends can do
 *
 * Prints for each minute how far the two are apart at most over the backends, as a part of the smaller: in what they have
 * learned (the capacity that `/explain` of the admin address has, at the end of the minute), and in the weights (means of the
 * minute). The two read the backends at different moments: the weights of one moment hold what each saw of it, too.
 */
import { availableParallelism, loadavg } from 'node:os';
import { request } from 'undici';
import type { GroupExplanation } from '../../src/admin/explanation.ts';
import type { State } from '../../src/admin/state-shape.ts';
import { planArrivals } from '../../src/demo/arrivals.ts';
import { type LoadResult, runLoad } from '../../src/demo/load.ts';
import { sleep, systemClock } from '../../src/runtime/clock.ts';
import { numberOption, optionsOf } from '../support/command-line.ts';
import { freePort } from '../support/ports.ts';
import { Replica, replicasFolder, ReplicaSidecar } from '../support/replicas.ts';
import { yamlOf } from '../support/voyage.ts';
import { Backends, nextSubnet } from './routing/backends.ts';
import { builtPlimsoll } from './routing/built-plimsoll.ts';
import { capacityOf, STAYS } from './routing/stays.ts';

/** Of the backends' steps. */
const SLOWNESS = [1, 1, 2, 2];
/** Of a look, a second apart. */
const STATES = 60;

type Pair<T> = readonly [T, T];

const values = optionsOf(import.meta.url, {
  before: { type: 'string', default: '300' },
  after: { type: 'string', default: '900' },
  load: { type: 'string', default: '0.6' },
});
const before = numberOption('--before', values.before, { least: 60 });
const after = numberOption('--after', values.after, { least: 60 });
const load = numberOption('--load', values.load, { least: 0.01, most: 2, whole: false });
const undo: (() => Promise<unknown>)[] = [];
try {
  await main();
} finally {
  for (const step of undo) await step();
}

async function main(): Promise<void> {
  const program = builtPlimsoll();
  say(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(2)} before the run`);
  const backends = await Backends.start({
    subnet: nextSubnet(),
    engine: STAYS.short.engine,
    slowness: SLOWNESS,
    loadReports: false,
    reportAgeMs: 0,
    failedFetchShare: 0,
    seed: 7,
  });
  undo.unshift(() => backends.stop());
  const folder = await replicasFolder();
  undo.unshift(folder.remove);
  const listener = await freePort();
  const yaml = yamlOf({ backends: backends.all }, { xds: 0, admin: 0, listener })
    .split('\n')
    .slice(2)
    .join('\n');
  const options = { program, drainSeconds: 1 };
  const stays = await Replica.start(folder.path, 'stays', yaml, options);
  undo.unshift(() => stays.plane.kill());
  const restarted = await Replica.start(folder.path, 'restarted', yaml, options);
  undo.unshift(() => restarted.plane.kill());
  const sidecars: ReplicaSidecar[] = [];
  for (const replica of [stays, restarted]) {
    const sidecar = await ReplicaSidecar.start(`at-${sidecars.length}`, yaml, [replica], { mode: 'eds' });
    undo.unshift(() => sidecar.stop());
    sidecars.push(sidecar);
  }
  const sent = send(sidecars.map(({ origin }) => origin));
  await lookEachMinute('the start of both', before, [stays, restarted]);
  await restarted.plane.stop();
  await restarted.restart();
  await lookEachMinute('the restart', after, [stays, restarted]);
  say(`load ${loadavg()[0]?.toFixed(2)} after the run`);
  sent.end();
  const results = await sent.results;
  const outcomes = new Map<string, number>();
  for (const { outcome } of results) outcomes.set(outcome.kind, (outcomes.get(outcome.kind) ?? 0) + 1);
  say(`requests: ${[...outcomes].map(([kind, count]) => `${count} ${kind}`).join(', ')}`);
}

function send(origins: readonly string[]): {
  readonly end: () => void;
  readonly results: Promise<readonly LoadResult[]>;
} {
  const capacity = capacityOf('short') * SLOWNESS.reduce((sum, slowness) => sum + 1 / slowness, 0);
  const seconds = before + after + 60;
  const arrivals = planArrivals({ seed: 7, ratePerSecond: load * capacity, seconds, mix: STAYS.short.mix });
  say(`${(load * capacity).toFixed(1)} requests/s, ${load} of what the backends can do`);
  const stop = new AbortController();
  const results = runLoad({
    origin: origins[0] ?? '',
    arrivals: arrivals.map((arrival, index) => ({
      ...arrival,
      origin: origins[index % origins.length] ?? '',
    })),
    signal: stop.signal,
  });
  return {
    end: () => {
      stop.abort();
    },
    results,
  };
}

async function lookEachMinute(since: string, seconds: number, replicas: Pair<Replica>): Promise<void> {
  const startedAtMs = systemClock.now();
  for (let end = STATES; end <= seconds; end += STATES) {
    const sums: Pair<number[]> = [SLOWNESS.map(() => 0), SLOWNESS.map(() => 0)];
    for (let second = end - STATES + 1; second <= end; second++) {
      await sleep(systemClock, startedAtMs + second * 1000 - systemClock.now());
      const shares = await ofBoth(replicas, async (replica) => sharesOf(await replica.state()));
      for (const [index, sum] of sums.entries()) {
        for (const [at, share] of (shares[index] ?? []).entries()) sum[at] = (sum[at] ?? 0) + share / STATES;
      }
    }
    const capacities = await ofBoth(replicas, capacitiesOf);
    const moved =
      SLOWNESS.reduce((sum, _, at) => sum + Math.abs((sums[0][at] ?? 0) - (sums[1][at] ?? 0)), 0) / 2;
    say(
      `${end - STATES} to ${end} s after ${since}: learned capacities ${apart(capacities)}; ` +
        `mean weights ${apart(sums)}, shares ${(100 * moved).toFixed(1)} points`,
    );
  }
}

async function ofBoth<T>(
  [one, other]: Pair<Replica>,
  of: (replica: Replica) => Promise<T>,
): Promise<Pair<T>> {
  return Promise.all([of(one), of(other)]);
}

/** How far the two are apart at most, and what each has of each backend. */
function apart([mine, theirs]: Pair<readonly number[]>): string {
  const ratios = mine.map((value, at) => {
    const against = theirs[at] ?? Number.NaN;
    return Math.max(value, against) / Math.min(value, against) - 1;
  });
  const list = (of: readonly number[]): string => of.map((value) => value.toFixed(3)).join(' ');
  return `${(100 * Math.max(...ratios)).toFixed(1)} % apart at most (${list(mine)} | ${list(theirs)})`;
}

/** Learned ones, of the newest evaluation. */
async function capacitiesOf(replica: Replica): Promise<readonly number[]> {
  const { body } = await request(`http://${replica.plane.admin}/explain/llama`);
  const { newest, published } = (await body.json()) as GroupExplanation;
  return (newest ?? published).decision.backends.map(({ capacity }) => capacity);
}

/** Weights over their sum. */
function sharesOf({ groups: [group], columns }: State): readonly number[] {
  const column = columns.indexOf('weight');
  const weights = (group?.rows ?? []).map((row) => Number(row[column]));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

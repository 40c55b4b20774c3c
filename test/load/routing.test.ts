import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { planArrivals } from '../../src/demo/arrivals.ts';
import { SimulatedBackend } from '../../src/demo/backend.ts';
import type { EnvoyHost } from '../../src/demo/envoy.ts';
import { type LoadResult, runLoad } from '../../src/demo/load.ts';
import { sleep, systemClock } from '../../src/runtime/clock.ts';
import { LONG_PROMPT_TOKENS, SLO_SECONDS } from '../bench/routing/model.ts';
import { mean } from '../bench/routing/statistics.ts';
import { capacityOf, STAYS } from '../bench/routing/stays.ts';
import { Cleanups } from '../support/cleanups.ts';
import { Voyage, type VoyageOptions } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const SIDECARS = 4;
/** So many backends are fast, and as many this much slower; then it is the other way round. */
const HALF = 4;
const SLOWNESS = 4;
const TURN_SECONDS = 11;
const END_SECONDS = 21;
/** Of what the fleet can do; equal shares are nearly twice what the slow half can. */
const LOAD = 0.75;
/** Shares are looked at when they have had this time to follow. */
const SETTLING_SECONDS = 5;
/** After the last arrival; what is not answered by then has missed. */
const PATIENCE_SECONDS = 1.5;

const { engine, mix } = STAYS.short;
const ARRIVALS = planArrivals({
  seed: 1,
  ratePerSecond: LOAD * capacityOf('short') * HALF * (1 + 1 / SLOWNESS),
  seconds: END_SECONDS,
  mix,
});

/** How the same requests fared on a fleet of its own. */
interface Course {
  readonly results: readonly LoadResult[];
  /** At the start, and then each second. */
  readonly looks: readonly Look[];
}

interface Look {
  /** The share of the weights that the half has that is fast at first, the mean of all Envoys. */
  readonly weights: number;
  /** Requests that the backends have taken in, answered or not: that half's and all. */
  readonly taken: number;
  readonly takenByAll: number;
}

/** Before the turn and after it: the share of the first half, in weights or in requests. */
type Turn = readonly [before: number, after: number];

describe('half of the backends are slow, and then the other half', () => {
  let ours: Course;
  let roundRobin: Course;

  before(async () => {
    [ours, roundRobin] = await Promise.all([
      play('127.0.49', {}),
      play('127.0.50', { group: 'EnvoyLbPolicy: RoundRobin', loadAware: false }),
    ]);
  });

  test('the weights that Envoys hold are with the fast half, and turn with it', () => {
    const [first, second] = weightsOf(ours);
    const course = ours.looks.map(({ weights }) => weights.toFixed(2)).join(' ');
    assert.ok(first > 0.54, `a share of ${first} while it is the fast half; each second: ${course}`);
    assert.ok(second < 0.46, `a share of ${second} while it is the slow half; each second: ${course}`);
  });

  test('the requests follow the weights', () => {
    const [first, second] = requestsOf(ours);
    assert.ok(first > 0.62, `a share of ${first} while it is the fast half`);
    assert.ok(second < 0.38, `a share of ${second} while it is the slow half`);
  });

  test('first tokens that do not come in time: at most half of those of round robin', () => {
    for (const share of [...weightsOf(roundRobin), ...requestsOf(roundRobin)]) {
      assert.ok(Math.abs(share - 0.5) < 0.1, `round robin gives the first half a share of ${share}`);
    }
    const [few, many] = [missesOf(ours), missesOf(roundRobin)];
    assert.ok(many > 0.2, `round robin misses ${many}: the load is too light to tell`);
    assert.ok(few <= many / 2, `misses ${few}, round robin ${many}`);
  });
});

async function play(network: string, options: Omit<VoyageOptions, 'backends'>): Promise<Course> {
  const cleanups = new Cleanups();
  try {
    const starting = Array.from({ length: 2 * HALF }, (_, index) => {
      const address = `${network}.${index + 1}`;
      const slowness = index < HALF ? 1 : SLOWNESS;
      const backend = SimulatedBackend.start({ address, engine, slowness, page: 'lean' });
      return cleanups.own(backend, (started) => started.stop());
    });
    const backends = await Promise.all(starting);
    const voyage = await Voyage.start({ ...options, backends, sidecars: SIDECARS }, cleanups);
    return await playOn(voyage, backends);
  } finally {
    await cleanups.run();
  }
}

async function playOn(voyage: Voyage, backends: readonly SimulatedBackend[]): Promise<Course> {
  const origins = await Promise.all(
    voyage.envoys.map(
      async (envoy) => `http://${await waitFor('the listener', () => envoy.listener('inference'))}`,
    ),
  );
  const arrivals = ARRIVALS.map((arrival, index) => ({
    ...arrival,
    origin: origins[index % origins.length] ?? voyage.origin,
  }));
  const signal = AbortSignal.timeout((END_SECONDS + PATIENCE_SECONDS) * 1000);
  const [results, looks] = await Promise.all([
    runLoad({ origin: voyage.origin, arrivals, signal }),
    watch(voyage, backends),
    turn(backends),
  ]);
  return { results, looks };
}

/** What was fast is slow from then on, and the reverse. */
async function turn(backends: readonly SimulatedBackend[]): Promise<void> {
  await sleep(systemClock, TURN_SECONDS * 1000);
  for (const [index, backend] of backends.entries()) backend.slowness = index < HALF ? SLOWNESS : 1;
}

async function watch(voyage: Voyage, backends: readonly SimulatedBackend[]): Promise<readonly Look[]> {
  const startedMs = systemClock.now();
  const looks: Look[] = [];
  while (looks.length <= END_SECONDS) {
    await sleep(systemClock, startedMs + looks.length * 1000 - systemClock.now());
    looks.push(await look(voyage, backends));
  }
  return looks;
}

async function look(voyage: Voyage, backends: readonly SimulatedBackend[]): Promise<Look> {
  const firstHalf = backends.slice(0, HALF);
  const [taken, takenByAll] = [takenBy(firstHalf), takenBy(backends)];
  const ids = new Set(firstHalf.map(({ id }) => id));
  const held = await Promise.all(voyage.envoys.map((envoy) => envoy.clusters()));
  return { weights: mean(held.map((hosts) => shareOf(hosts, ids))), taken, takenByAll };
}

function takenBy(backends: readonly SimulatedBackend[]): number {
  return backends.reduce((sum, { accepted }) => sum + accepted, 0);
}

/** Whatever their health is: a mark alone, without other weights, is not what is looked for. */
function shareOf(hosts: readonly EnvoyHost[], ids: ReadonlySet<string>): number {
  const all = hosts.filter(({ cluster }) => cluster === 'llama');
  return weightOf(all.filter(({ address }) => ids.has(address))) / weightOf(all);
}

function weightOf(hosts: readonly EnvoyHost[]): number {
  return hosts.reduce((sum, { weight }) => sum + weight, 0);
}

function weightsOf({ looks }: Course): Turn {
  const share = (fromSeconds: number, untilSeconds: number): number =>
    mean(looks.slice(fromSeconds + 1, untilSeconds + 1).map(({ weights }) => weights));
  return [share(SETTLING_SECONDS, TURN_SECONDS), share(TURN_SECONDS + SETTLING_SECONDS, END_SECONDS)];
}

function requestsOf({ looks }: Course): Turn {
  const share = (fromSeconds: number, untilSeconds: number): number => {
    const [from, until] = [looks[fromSeconds]!, looks[untilSeconds]!];
    return (until.taken - from.taken) / (until.takenByAll - from.takenByAll);
  };
  return [share(SETTLING_SECONDS, TURN_SECONDS), share(TURN_SECONDS + SETTLING_SECONDS, END_SECONDS)];
}

/** The share of all that was offered. */
function missesOf({ results }: Course): number {
  return 1 - results.filter(isInTime).length / ARRIVALS.length;
}

function isInTime({ arrival, outcome, firstTokenMs }: LoadResult): boolean {
  if (firstTokenMs === undefined || (outcome.kind !== 'ok' && outcome.kind !== 'aborted')) return false;
  const isLong = arrival.promptTokens >= LONG_PROMPT_TOKENS.short;
  return firstTokenMs <= 1000 * (isLong ? SLO_SECONDS.long : SLO_SECONDS.chat);
}

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backends, Fleet, sampleOf } from '../../support/fleet.ts';
import { random } from '../../support/random.ts';

const BACKENDS = 8;
const PER_RUN = 80;
const EVEN = Array.from({ length: BACKENDS }, () => 1 / BACKENDS);

/** What comes in a run to a backend, as a part of all that comes, by the decisions so far. */
type Routing = (decisions: readonly GroupDecision[], index: number) => number;

/** As decisions said, so many runs before the one that is in force. */
function following(lag: number): Routing {
  return (decisions, index) =>
    decisions.at(-1 - lag)?.backends.map(({ share }) => share)[index] ?? EVEN[index] ?? 0;
}

/** Engines whose load comes and goes by chance, and to which requests come as they are routed. */
class Engines {
  readonly decisions: GroupDecision[] = [];
  readonly #next = random(5);
  readonly #routing: Routing;
  readonly #swing: number;
  #samples: readonly Sample[] = EVEN.map(() => sampleOf({ running: 40, finished: 1_000 }));

  constructor(routing: Routing, swing = 60) {
    this.#routing = routing;
    this.#swing = swing;
  }

  /** @returns the lag that each run saw */
  run(fleet: Fleet, times: number): readonly (number | undefined)[] {
    return Array.from({ length: times }, () => {
      const decision = fleet.step(this.#step(fleet));
      this.decisions.push(decision);
      return decision.basis.gain?.lagSeconds;
    });
  }

  #step({ servers }: Fleet): readonly Sample[] {
    this.#samples = servers.map((_, index) => {
      const past = this.#samples[index] ?? sampleOf({ running: 40, finished: 1_000 });
      const came = Math.round(PER_RUN * this.#routing(this.decisions, index));
      const before = past.running ?? 0;
      const running = Math.min(before + came, 40 + Math.round(this.#swing * (this.#next() - 0.5)));
      return sampleOf({ running, finished: (past.finished ?? 0) + before + came - running });
    });
    return this.#samples;
  }
}

function fleetOf(intervalSeconds: number): Fleet {
  return new Fleet(BACKENDS, { intervalSeconds, scorers: [{ name: 'RunningRequests', weight: 1 }] });
}

for (const [lag, intervalSeconds, expected] of [
  [0, 1, 0],
  [1, 1, 1],
  [3, 1, 3],
  [8, 1, 8],
  [12, 0.25, 3],
  [1, 5, 5],
  // shorter than an interval, so that none is looked for
  [1, 15, 0],
] as const) {
  test(`requests that show ${lag} runs after the weights that sent them, Interval ${intervalSeconds} s`, () => {
    const engines = new Engines(following(lag), intervalSeconds < 1 ? 20 : 60);
    const lags = engines.run(fleetOf(intervalSeconds), 40);
    assert.equal(lags.at(-1), expected, lags.join(' '));
  });
}

/** Of 300 such fleets in 300 runs each, 26 had a lag within their first nine runs, and none later. */
test('sidecars that take no notice of weights show no lag once ten runs have told, and seldom before, by chance', () => {
  const fleets = Array.from({ length: 30 }, (_, index) => {
    const chance = random(index + 1);
    return new Engines(() => (0.7 + 0.6 * chance()) / BACKENDS).run(fleetOf(1), 100);
  });
  const isFound = (lag: number | undefined): boolean => lag !== 0;
  assert.deepEqual(fleets.flatMap((lags) => lags.slice(10)).filter(isFound), []);
  const early = fleets.filter((lags) => lags.some(isFound)).length;
  assert.ok(early <= 4, `${early} of ${fleets.length}`);
});

test('a lag lowers the gain, and is forgotten when it ends', () => {
  let lag = 3;
  const engines = new Engines((decisions, index) => following(lag)(decisions, index));
  const fleet = fleetOf(1);
  engines.run(fleet, 40);
  const { gain, basis } = engines.decisions.at(-1)!;
  assert.ok(gain < 0.2, `${gain}`);
  assert.equal(basis.gain?.remaining, Math.exp(-(1 + 0.1 + 2 * 3) / basis.gain!.staySeconds));
  lag = 0;
  assert.equal(engines.run(fleet, 120).at(-1), 0);
});

test('what is known of a lag outlives backends that come and go', () => {
  const engines = new Engines(following(2));
  const fleet = fleetOf(1);
  engines.run(fleet, 40);
  fleet.reload(backends(BACKENDS + 1));
  assert.deepEqual(engines.run(fleet, 1), [2]);
  fleet.reload(backends(BACKENDS - 2));
  assert.deepEqual(engines.run(fleet, 1), [2]);
});

test('one absurd gauge makes no lag', () => {
  const engines = new Engines(following(0));
  const fleet = fleetOf(1);
  engines.run(fleet, 30);
  fleet.step(EVEN.map((_, index) => ({ running: index === 2 ? 1e300 : 40, finished: 1e9 })));
  fleet.step(EVEN.map(() => ({ running: 40, finished: 1e9 })));
  assert.deepEqual(new Set(engines.run(fleet, 40)), new Set([0]));
});

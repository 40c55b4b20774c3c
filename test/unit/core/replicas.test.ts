import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { type Answer, Fleet } from '../../support/fleet.ts';
import { random } from '../../support/random.ts';
import { SLOTS, SlotEngine, STAY_SECONDS } from '../../support/slot-engine.ts';

/** Two replicas that read the same engines, each with half of the sidecars. */

const TICK_SECONDS = 0.05;
/** Half of the fleet at half the speed. */
const MIXED = [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5];

type Replicas = readonly [Fleet, Fleet];
type Decisions = readonly [GroupDecision, GroupDecision];

/** The engines, under a load that both replicas' sidecars share. */
class World {
  readonly #next = random(42);
  readonly #engines = MIXED.map((speed) => new SlotEngine(speed));
  readonly #perTick: number;

  /** @param load as a part of what the engines can do together */
  constructor(load: number) {
    const capacity = (MIXED.reduce((sum, speed) => sum + speed, 0) * SLOTS) / STAY_SECONDS;
    this.#perTick = capacity * load * TICK_SECONDS;
  }

  get samples(): readonly Sample[] {
    return this.#engines.map((engine) => engine.sample);
  }

  /** A second, each request by the weights of either. */
  second(decisions: Decisions): void {
    for (let tick = 0; tick < 1 / TICK_SECONDS; tick++) {
      for (let due = this.#perTick; this.#next() < due; due--) {
        const decision = decisions[this.#next() < 0.5 ? 0 : 1];
        this.#engines[pick(decision, this.#next())]?.admit(-Math.log(1 - this.#next()) * STAY_SECONDS);
      }
      for (const engine of this.#engines) engine.tick(TICK_SECONDS);
    }
  }
}

/** Weighted choice among the healthy. */
function pick(decision: GroupDecision, at: number): number {
  let left = at;
  return decision.backends.findIndex((of) => {
    left -= of.share;
    return left < 0;
  });
}

/** @param see what each replica sees of the samples */
function play(
  world: World,
  replicas: Replicas,
  seconds: number,
  see: (samples: readonly Sample[], replica: 0 | 1) => readonly Answer[] = (samples) => samples,
): readonly Decisions[] {
  return Array.from({ length: seconds }, () => {
    const { samples } = world;
    const decisions = [replicas[0].step(see(samples, 0)), replicas[1].step(see(samples, 1))] as const;
    world.second(decisions);
    return decisions;
  });
}

/** How far apart the weights of any backend are, as a part of the smaller. */
function apart([one, other]: Decisions): number {
  return Math.max(
    ...one.backends.map((of, index) => {
      const [a, b] = [of.relativeWeight, other.backends[index]?.relativeWeight ?? 0];
      return Math.max(a, b) / Math.min(a, b) - 1;
    }),
  );
}

/** Of the shares from one decision to the next, 0..1, on average. */
function variation(decisions: readonly GroupDecision[]): number {
  const moved = decisions.slice(1).map((decision, index) => {
    const before = decisions[index]?.backends ?? [];
    return (
      decision.backends.reduce((sum, of, at) => sum + Math.abs(of.share - (before[at]?.share ?? 0)), 0) / 2
    );
  });
  return moved.reduce((sum, value) => sum + value, 0) / moved.length;
}

const started = (): Fleet => new Fleet(MIXED.length);

test('of the same past and view: the same bytes, of each evaluation', () => {
  for (const [one, other] of play(new World(0.8), [started(), started()], 120)) {
    assert.deepEqual(one.assignment, other.assignment);
  }
});

for (const load of [0.3, 0.8]) {
  test(`load ${load}: 25 minutes after one was restarted their weights are within 10 %, after 10 within 25 %`, () => {
    const world = new World(load);
    const stays = started();
    play(world, [stays, started()], 900);
    const after = play(world, [stays, started()], 1560).map(apart);
    assert.ok(Math.max(...after.slice(0, 10)) > 0.25, 'the restarted one has something to learn');
    assert.ok(Math.max(...after.slice(600)) < 0.25, `${Math.max(...after.slice(600))} after 10 minutes`);
    assert.ok(Math.max(...after.slice(1500)) < 0.1, `${Math.max(...after.slice(1500))} after 25 minutes`);
  });
}

test('one gets no metrics of a backend: no more moves than before, at either', () => {
  const world = new World(0.7);
  const both = [started(), started()] as const;
  const before = play(world, both, 600).slice(300);
  const during = play(world, both, 400, (samples, replica) =>
    replica === 0 ? samples : samples.map((sample, index) => (index === 0 ? 'timeout' : sample)),
  ).slice(100);
  const usual = variation(before.map(([one]) => one));
  for (const replica of [0, 1] as const) {
    const moves = variation(during.map((decisions) => decisions[replica]));
    assert.ok(moves < 1.3 * usual, `replica ${replica}: ${moves}, it was ${usual}`);
  }
  const after = play(world, both, 660).slice(600).map(apart);
  assert.ok(Math.max(...after) < 0.25, `${Math.max(...after)} apart, 10 minutes after`);
});

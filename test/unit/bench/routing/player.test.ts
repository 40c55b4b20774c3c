import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { fileNameOf, type StoredCell } from '../../../bench/routing/cell-store.ts';
import type { CellResult, CellSpec } from '../../../bench/routing/model.ts';
import { Plan } from '../../../bench/routing/planner.ts';
import { playPlan, secondsLeft } from '../../../bench/routing/player.ts';
import { formatDuration, Progress } from '../../../bench/routing/progress.ts';
import { SCENARIOS } from '../../../bench/routing/scenarios.ts';
import { syntheticCell } from './synthetic-cell.ts';

test('plays everything, as many side by side as allowed', async () => {
  const game = gameOf();
  let [inPlay, most] = [0, 0];
  const failed = await game.play(2, async (spec) => {
    most = Math.max(most, ++inPlay);
    await Promise.resolve();
    inPlay--;
    return syntheticCell(spec);
  });
  assert.deepEqual([failed, most, game.results.size, game.plan.open().length], [0, 2, 6, 0]);
});

test('a disturbed cell is played again at a lower rate in the same run', async () => {
  const game = gameOf();
  await game.play(2, (spec) =>
    Promise.resolve(
      syntheticCell(spec, { disturbances: spec.seed === 1 && spec.rateFactor === 1 ? ['busy'] : [] }),
    ),
  );
  assert.deepEqual(
    game.plan.rows().map(({ cells }) => cells.map(({ rateFactor }) => rateFactor)),
    [
      [0.9, 1],
      [0.9, 1],
      [0.9, 1],
    ],
  );
});

test('a cell that fails is said and not tried again, and the others go on', async () => {
  const game = gameOf();
  let tries = 0;
  const failed = await game.play(1, async (spec) => {
    if (spec.arm !== 'adaptive' || spec.seed !== 1) return syntheticCell(spec);
    tries++;
    throw new Error('no Envoy');
  });
  assert.deepEqual([failed, tries, game.results.size], [1, 1, 5]);
  assert.match(game.lines.join('\n'), /adaptive, 4 sidecars, seed 1: FAILED: no Envoy/);
});

test('an interruption keeps what is finished and starts nothing more', async () => {
  const game = gameOf();
  const failed = await game.play(1, async (spec) => {
    if (game.results.size < 2) return syntheticCell(spec);
    game.stop.abort();
    throw new Error('given up');
  });
  assert.deepEqual([failed, game.results.size, game.plan.open().length], [0, 2, 4]);
});

test('says how many are done and how long the rest takes', async () => {
  const game = gameOf();
  await game.play(1, (spec) => {
    game.clock.seconds += 68;
    return Promise.resolve(syntheticCell(spec));
  });
  assert.deepEqual(game.lines.slice(0, 2), [
    '6 cells, 0 done, 1 at a time: 7 min to go',
    '1/6 equal-0.85, round-robin, 4 sidecars, seed 1: 100.0 % in time; 6 min left',
  ]);
  assert.match(game.lines.at(-1)!, /^6\/6 .*100\.0 % in time$/);
});

test('time left: side by side, at the pace so far, never less than the longest', () => {
  const { plan } = gameOf();
  const all = plan.open();
  assert.equal(secondsLeft(all, 1, 1), 6 * 68);
  assert.equal(secondsLeft(all, 2, 1.5), 6 * 34 * 1.5);
  assert.equal(secondsLeft(all, 100, 1), 68);
  assert.equal(secondsLeft([], 2, 1), 0);
});

test('durations', () => {
  assert.deepEqual([0.2, 99, 101, 5_940, 7_500].map(formatDuration), [
    '1 s',
    '99 s',
    '2 min',
    '99 min',
    '2 h 05 min',
  ]);
});

function gameOf() {
  const results = new Map<string, CellResult>();
  const find = (spec: CellSpec): StoredCell | undefined => {
    const result = results.get(fileNameOf(spec));
    return result && { product: 'made', result };
  };
  const scenarios = SCENARIOS.filter(({ name }) => name === 'equal-0.85');
  const arms = ['round-robin', 'least-request', 'adaptive'] as const;
  const plan = new Plan({ scenarios, arms, sidecars: [4], seeds: 2 }, find);
  const lines: string[] = [];
  const stop = new AbortController();
  const clock = { seconds: 0 };
  const play = (jobs: number, playOne: (spec: CellSpec) => Promise<CellResult>): Promise<number> => {
    const events = new Progress({ plan, jobs, say: (line) => lines.push(line), now: () => clock.seconds });
    events.begin();
    const save = (spec: CellSpec, result: CellResult): void => void results.set(fileNameOf(spec), result);
    return playPlan({ plan, jobs, play: playOne, save, events, signal: stop.signal });
  };
  return { plan, results, lines, stop, clock, play };
}

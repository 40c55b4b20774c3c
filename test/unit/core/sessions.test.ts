import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { evaluate, initialState } from '../../../src/core/evaluate.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backends, loadAwareGroup, one, outcomeOf } from '../../support/fleet.ts';
import { random } from '../../support/random.ts';

const SESSIONS = 160;
const RESTART = 900;

/**
 * Sessions of 450 to 1,350 s, a turn of 2 to 6 s each 10 s, that keep to one of four equal backends. New ones go by the
 * published shares. The last backend loses its own when it restarts.
 */
function sessions(keepsSessions: boolean, seconds: number, seed: number): readonly GroupDecision[] {
  const next = random(seed);
  const group = loadAwareGroup(backends(4), { keepsSessions });
  let state = initialState();
  let shares = [0.25, 0.25, 0.25, 0.25];
  let open: { backend: number; endsAt: number }[] = [];
  const inside: number[][] = [[], [], [], []];
  const finished = [0, 0, 0, 0];
  const pick = (): number => {
    let left = next();
    const found = shares.findIndex((share) => (left -= share) <= 0);
    return found === -1 ? 3 : found;
  };
  const decisions: GroupDecision[] = [];
  for (let second = 1; second <= seconds; second++) {
    for (const [index, turns] of inside.entries()) {
      const left = turns.filter((endsAt) => endsAt > second);
      finished[index] = (finished[index] ?? 0) + turns.length - left.length;
      inside[index] = left;
    }
    open = open.filter(({ endsAt }) => endsAt > second);
    if (second === RESTART) {
      for (const session of open) if (session.backend === 3) session.backend = Math.floor(3 * next());
    }
    while (open.length < SESSIONS) {
      const lasts = second < 10 ? 900 * next() : 900 * (0.5 + next());
      open.push({ backend: pick(), endsAt: second + lasts });
    }
    for (const { backend } of open) if (next() < 0.1) inside[backend]?.push(second + 2 + 4 * next());
    const nowMs = 1000 * second;
    const outcomes = new Map(
      group.servers.flatMap(({ id }, index) => {
        const running = inside[index]?.length ?? 0;
        const kvUtilization = running / 64 + 1e-6 * next();
        const outcome = outcomeOf({ running, kvUtilization, finished: finished[index] }, nowMs);
        return outcome === undefined ? [] : [[id, outcome] as const];
      }),
    );
    const run = { startedAtMs: nowMs - 50, endedAtMs: nowMs, outcomes };
    const evaluation = evaluate(state, { group, nowMs, run, delaySeconds: 0.1 });
    state = evaluation.state;
    decisions.push(evaluation.decision);
    if (evaluation.decision.publish !== undefined)
      shares = evaluation.decision.backends.map((of) => of.share);
  }
  return decisions;
}

describe('sessions that keep to their backends', () => {
  const isDoubted = (decision: GroupDecision): boolean => one(decision, 3).doubted;

  for (const seed of [1, 3]) {
    test(`one that restarts without its own gets new ones and is no liar, seed ${seed}`, () => {
      const decisions = sessions(true, 2700, seed);
      assert.ok(!decisions.some(isDoubted));
      const shareAt = (from: number, to: number): readonly number[] =>
        decisions.slice(from, to).map((decision) => one(decision, 3).share);
      assert.ok(Math.min(...shareAt(RESTART + 60, RESTART + 240)) > 0.3, 'while it has few');
      const later = shareAt(RESTART + 600, 2700);
      assert.ok(Math.min(...later) > 0.12, `no more is taken back than was given: ${Math.min(...later)}`);
      const residuals = new Set(decisions.flatMap((of) => of.backends.map(({ basis }) => basis.residual)));
      assert.deepEqual([...residuals], [1]);
      const lags = new Set(decisions.map((decision) => decision.basis.gain?.lagSeconds));
      assert.deepEqual([...lags], [0], 'nor do old shares tell how old the gauges are');
    });
  }

  test('a lag that was found before is forgotten as soon as somebody says that they do', () => {
    const next = random(2);
    let state = initialState();
    let shares = [0.25, 0.25, 0.25, 0.25];
    let foundAt = Number.POSITIVE_INFINITY;
    const ends: number[][] = [[], [], [], []];
    const finished = [0, 0, 0, 0];
    const seen: { running: number; kvUtilization: number; finished: number }[][] = [];
    // short requests that come by the shares, gauges that are 5 s old, and half of the backends slower
    for (let second = 1; second < foundAt + 60; second++) {
      assert.ok(second < 900, 'no lag is found at all');
      for (let request = 0; request < 10; request++) {
        let left = next();
        const index = Math.max(
          0,
          shares.findIndex((share) => (left -= share) <= 0),
        );
        ends[index]?.push(second + (2 + 8 * next()) / (index < 2 ? 1 : 0.6));
      }
      for (const [index, all] of ends.entries()) {
        const rest = all.filter((end) => end > second);
        finished[index] = (finished[index] ?? 0) + all.length - rest.length;
        ends[index] = rest;
      }
      seen.push(
        ends.map(({ length: running }, index) => ({
          running,
          kvUtilization: running / 200 + 1e-6 * next(),
          finished: finished[index] ?? 0,
        })),
      );
      const nowMs = 1000 * second;
      const group = loadAwareGroup(backends(4), { keepsSessions: second > foundAt });
      const outcomes = new Map(
        group.servers.flatMap(({ id }, index) => {
          const outcome = outcomeOf(seen[Math.max(0, second - 6)]?.[index], nowMs);
          return outcome === undefined ? [] : [[id, outcome] as const];
        }),
      );
      const run = { startedAtMs: nowMs - 50, endedAtMs: nowMs, outcomes };
      const evaluation = evaluate(state, { group, nowMs, run, delaySeconds: 0.1 });
      state = evaluation.state;
      if (evaluation.decision.publish !== undefined)
        shares = evaluation.decision.backends.map((of) => of.share);
      const lag = evaluation.decision.basis.gain?.lagSeconds ?? 0;
      if (second > foundAt) assert.equal(lag, 0);
      else if (lag > 0) foundAt = second;
    }
  });

  test('where nobody says that they do, it looks like one', () => {
    assert.ok(sessions(false, RESTART + 60, 1).some(isDoubted));
  });
});

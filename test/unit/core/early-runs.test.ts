import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { Collector } from '../../../src/collect/collector.ts';
import { evaluate, initialState } from '../../../src/core/evaluate.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { page } from '../../support/collector-bench.ts';
import { explanationOf } from '../../support/explanations.ts';
import { explainText } from '../../../src/commands/explain-text.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import {
  type Answer,
  backends,
  Fleet,
  type FleetOptions,
  loadAwareGroup,
  one,
  uses,
} from '../../support/fleet.ts';

const load = (second: number): Answer => ({
  running: 8,
  kvUtilization: 0.1 + second / 1000,
  finished: 3 * second,
});

/** After two runs that were due, at an interval of 15 s. */
function seen(count: number, options: FleetOptions = {}): Fleet {
  const fleet = new Fleet(count, { intervalSeconds: 15, ...options });
  for (const second of [0, 15]) fleet.step(backends(count).map(() => load(second)));
  return fleet;
}

describe('in runs that come early', () => {
  test('who has not answered yet has missed nothing: its last sample counts, and so do its answers after that', () => {
    const fleet = seen(4);
    for (const second of [16, 17, 18]) {
      const early = fleet.step([undefined, load(second), load(second), load(second)], 0, 1);
      assert.deepEqual([one(early, 0).missed, one(early, 0).use], [0, 'last']);
      assert.deepEqual(uses(early).slice(1), ['fresh', 'fresh', 'fresh']);
      assert.deepEqual(one(early, 0).reasons.slice(0, 1), [
        'no answer yet to a collection that came early: its last sample counts',
      ]);
      const text = explainText(explanationOf(early), { full: true, color: false, columns: undefined });
      assert.match(text, /stands in, as it has not answered yet to a collection that came early/);
    }
    const due = fleet.step(
      backends(4).map(() => load(30)),
      0,
      12,
    );
    assert.deepEqual(uses(due), ['fresh', 'fresh', 'fresh', 'fresh']);
  });

  test('who is silent for an interval has missed one, however many runs there were', () => {
    const fleet = seen(4);
    const answers = (second: number) => [undefined, load(second), load(second), load(second)];
    const missed: number[] = [];
    for (let second = 16; second <= 45; second++)
      missed.push(one(fleet.step(answers(second), 0, 1), 0).missed);
    assert.deepEqual([missed[0], missed[14], missed.at(-1)], [0, 1, 2], missed.join(' '));
  });

  test('who fails misses the first at once, and the next after an interval', () => {
    const fleet = seen(4);
    const answers = (second: number): readonly Answer[] => [
      'status',
      load(second),
      load(second),
      load(second),
    ];
    const early = [16, 17, 18].map((second) => one(fleet.step(answers(second), 0, 1), 0));
    assert.deepEqual(
      early.map(({ missed, use, failure }) => [missed, use, failure?.kind]),
      Array.from({ length: 3 }, () => [1, 'last', 'status']),
    );
    assert.deepEqual(one(fleet.step(answers(30), 0, 12), 0).missed, 2);
  });

  test('OnCollectFailure Remove takes nobody out who may still answer, but who fails, and lets nobody in unseen', () => {
    const fleet = seen(4, { onCollectFailure: 'Remove' });
    fleet.reload(backends(5));
    const early = fleet.step([undefined, 'status', load(16), load(16), undefined], 0, 1);
    assert.deepEqual(uses(early), ['last', 'removed', 'fresh', 'fresh', 'removed']);
  });

  test('where nobody has answered yet, nobody is blind', () => {
    for (const onCollectFailure of ['Keep', 'Remove'] as const) {
      const fleet = seen(3, { onCollectFailure });
      const before = fleet.step([{ running: 8 }, { running: 20 }, { running: 8 }]);
      const early = fleet.step([undefined, undefined, undefined], 0, 1);
      assert.equal(early.mode, 'balanced');
      assert.ok(Math.abs(one(early, 1).share - one(before, 1).share) < 0.02, onCollectFailure);
    }
  });
});

test('two whose pages take 4 s stay in, fresh in every run that is due, while others join', async () => {
  const clock = new FakeClock(1_000_000);
  const settings = collectSettings({ intervalSeconds: 15, timeoutSeconds: 10 });
  const all = backends(11);
  let group = loadAwareGroup(all.slice(0, 8), { intervalSeconds: 15, onCollectFailure: 'Remove' });
  let state = initialState();
  const decisions: GroupDecision[] = [];
  const collector = new Collector({
    settings,
    clock,
    log: silentLogger,
    openSource: ({ id }) => ({
      fetch: async (signal) => {
        await sleep(clock, all.findIndex((of) => of.id === id) < 2 ? 4000 : 20, signal);
        return page(0, 0.1 + clock.now() / 1e8);
      },
      close: () => Promise.resolve(),
    }),
  });
  collector.setBackends(group.servers);
  collector.start((run) => {
    const evaluation = evaluate(state, { group, nowMs: clock.now(), run, delaySeconds: 0.1 });
    state = evaluation.state;
    decisions.push(evaluation.decision);
  });
  await clock.advance(61_000);
  for (const count of [9, 10, 11]) {
    group = { ...group, servers: all.slice(0, count) };
    collector.setBackends(group.servers);
    collector.hasten();
    await clock.advance(1000);
  }
  await clock.advance(30_000);
  assert.deepEqual(
    // the first run does not wait for them
    decisions.slice(1).map((of) => [one(of, 0).use, one(of, 1).use, of.assignment.endpoints.length]),
    [
      ...Array.from({ length: 4 }, () => ['fresh', 'fresh', 8]),
      ...[9, 10, 11].map((count) => ['last', 'last', count]),
      ...Array.from({ length: 2 }, () => ['fresh', 'fresh', 11]),
    ],
  );
  const stopped = collector.stop();
  await clock.advance(20_000);
  await stopped;
});

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { SampleFeed } from '../../../src/admin/sample-feed.ts';
import type { SampleLine } from '../../../src/admin/sample-shape.ts';
import type { CollectRun } from '../../../src/core/model/collection.ts';
import { serverGroup } from '../../support/configuration.ts';
import { backend, backendDecision, groupDecision } from '../../support/decisions.ts';
import { type Answer, loadAwareGroup, outcomeOf } from '../../support/fleet.ts';

class FakeResponse extends EventEmitter {
  readonly lines: SampleLine[] = [];
  writableLength = 0;
  destroyed = false;

  write(bytes: Buffer): boolean {
    const text = bytes.toString();
    assert.ok(text.endsWith('\n'));
    this.lines.push(JSON.parse(text) as SampleLine);
    return true;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const ORIGIN = { version: '1', instance: 'i', startedAt: 1, now: 3, nowMs: 2.5 };
const [one, other] = [backend(1), backend(2)];
const GROUP = loadAwareGroup([one, other]);

function start() {
  const feed = new SampleFeed({ origin: () => ORIGIN, status: () => undefined });
  feed.configure([GROUP, serverGroup('plain')]);
  const join = (): FakeResponse => {
    const response = new FakeResponse();
    feed.add(response as unknown as ServerResponse);
    return response;
  };
  return { feed, join };
}

function runOf(...answers: readonly Answer[]): CollectRun {
  const outcomes = new Map(
    [other, one].flatMap(({ id }, index) => {
      const outcome = outcomeOf(answers[index], 1_900.25);
      return outcome === undefined ? [] : [[id, outcome] as const];
    }),
  );
  return { startedAtMs: 1_500.125, endedAtMs: 1_950, outcomes };
}

const decision = groupDecision(
  'llama',
  [backendDecision(one), backendDecision(other, { health: undefined, weight: 0 })],
  { atMs: 2_000.5, publish: undefined },
);

test('a header, and an evaluation with what answered and what did not, times and values as they are', () => {
  const { feed, join } = start();
  const client = join();
  feed.evaluated(decision, runOf('status', { running: 3, kvUtilization: undefined, finished: 9 }));
  const groups = [
    {
      name: 'llama',
      mode: 'Active',
      envoyLbPolicy: 'RoundRobin',
      intervalSeconds: 1,
      balance: JSON.parse(JSON.stringify(GROUP.loadAware?.balance)) as unknown,
      backends: [one, other].map(({ id }) => ({ id, weight: 100 })),
      evaluations: 0,
      published: null,
    },
  ];
  assert.deepEqual(client.lines[0], { kind: 'plimsoll samples', format: 1, ...ORIGIN, groups });
  assert.deepEqual(client.lines[1], {
    kind: 'evaluation',
    group: 'llama',
    number: 1,
    atMs: 2_000.5,
    collectionStartedAtMs: 1_500.125,
    delaySeconds: 0.1,
    outcomes: [
      [
        one.id,
        {
          kind: 'sample',
          sample: { queued: 0, running: 3, finished: 9 },
          engine: 'Vllm',
          atMs: 1_900.25,
          durationMs: 5,
          bytes: 300,
        },
      ],
      [
        other.id,
        {
          kind: 'failure',
          failure: { kind: 'status', message: 'status' },
          atMs: 1_900.25,
          durationMs: 5,
        },
      ],
    ],
  });
});

test('what is published is told when it goes out; one that has not answered yet is left out', () => {
  const { feed, join } = start();
  feed.evaluated(decision, runOf({}, {}));
  const client = join();
  feed.evaluated({ ...decision, publish: 'health' }, runOf(undefined, {}));
  const [, line] = client.lines;
  assert.ok(line?.kind === 'evaluation');
  assert.equal(line.number, 2, 'those before are counted');
  assert.deepEqual(
    line.outcomes.map(([id]) => id),
    [one.id],
  );
  assert.deepEqual(line.published, {
    reason: 'health',
    endpoints: [[one.id, 100_000, 'HEALTHY']],
    dropShare: 0,
  });
});

test('another configuration is told', () => {
  const { feed, join } = start();
  const client = join();
  feed.configure([{ ...GROUP, mode: 'Observe' }]);
  const [, line] = client.lines;
  assert.ok(line?.kind === 'groups');
  assert.deepEqual([line.atMs, line.groups[0]?.mode], [2.5, 'Observe']);
});

test('who falls far behind is cut off, so that nobody has a hole; others go on', () => {
  const { feed, join } = start();
  const [slow, fast] = [join(), join()];
  slow.writableLength = 9 * 1024 * 1024;
  feed.evaluated(decision, runOf({}, {}));
  feed.evaluated(decision, runOf({}, {}));
  assert.ok(slow.destroyed);
  assert.deepEqual([slow.lines.length, fast.lines.length], [1, 3]);
});

test('there is room for eight', () => {
  const { join, feed } = start();
  const clients = Array.from({ length: 8 }, join);
  assert.ok(feed.isFull);
  clients[0]?.emit('close');
  assert.ok(!feed.isFull);
});

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { LiveState } from '../../../src/admin/live-state.ts';
import type { State, StateChange } from '../../../src/admin/state-shape.ts';
import type { DiscoveryStatus } from '../../../src/core/model/discovery.ts';
import type { GroupStatus } from '../../../src/core/model/group-status.ts';
import { backend, backendDecision, groupDecision } from '../../support/decisions.ts';
import { loadAwareGroup } from '../../support/fleet.ts';

const FOUND: DiscoveryStatus = {
  source: 'file /list.yaml',
  list: { atMs: 0, backends: 2 },
  failure: undefined,
  waiting: undefined,
  leftOut: [],
  doubted: [],
  draining: [],
};
const START = Date.UTC(2026, 10, 30);

let nowMs: number;
let wallMs: number;
let ready: boolean;
let status: GroupStatus | undefined;
let live: LiveState;

beforeEach(() => {
  nowMs = 5_000;
  wallMs = START;
  ready = false;
  status = undefined;
  live = new LiveState({
    version: '1.2.3',
    file: 'plimsoll.yaml',
    ready: () => ready,
    status: (name) => (name === 'llama' ? status : undefined),
    now: () => nowMs,
    unixMs: () => wallMs,
  });
  live.configuration.taken('start', 'a: 1\n', []);
});

/** One evaluation of llama with so many backends, each with so many requests. */
function evaluate(backends: number, running = 3): void {
  const decision = groupDecision(
    'llama',
    Array.from({ length: backends }, (_, i) =>
      backendDecision(backend(i + 1), {
        sample: { queued: 1, running, kvUtilization: 0.25, finished: 0, latency: undefined },
        share: 1 / backends,
        relativeWeight: 0.5 + i,
      }),
    ),
    { atMs: nowMs },
  );
  const published = { decision, version: 'v1', atMs: nowMs - 2_000, firstAcknowledgedAtMs: nowMs - 1_900 };
  status = { newest: decision, published, streams: { following: 2, current: 1 } };
  live.published('llama', 'v1');
  live.evaluated(decision);
}

function configure(...names: readonly string[]): void {
  live.configure(names.map((name) => ({ ...loadAwareGroup([backend(1)]), name })));
}

function change(): StateChange {
  const news = live.news();
  return news.kind === 'change' ? news.change : assert.fail('it is the whole');
}

function whole(): State {
  const news = live.news();
  return news.kind === 'state' ? news.state : assert.fail('it is a change');
}

const parts = (of: StateChange): readonly string[] => Object.keys(of).toSorted();

test('a group that was not evaluated yet', () => {
  configure('llama');
  const { groups, ready: isReady, startedAt, now } = whole();
  assert.deepEqual([isReady, startedAt, now], [false, START, START]);
  const [group] = groups;
  assert.deepEqual([group?.name, group?.mode, group?.published, group?.rows], ['llama', null, null, []]);
  assert.deepEqual(group?.history.series.queued, []);
});

test('a backend that came, a group that came: the whole; after that only what is different', () => {
  configure('llama');
  evaluate(2);
  assert.equal(whole().groups[0]?.backends.length, 2);
  assert.deepEqual(parts(change()), ['configuration', 'now', 'ready', 'sidecars', 'warnings']);
  assert.deepEqual(parts(change()), ['now']);
  nowMs += 1_000;
  evaluate(2, 7);
  const next = change();
  assert.deepEqual(parts(next), ['groups', 'now']);
  assert.equal(next.groups?.[0]?.rows[1]?.[6], 7);
  assert.equal(next.groups?.[0]?.evaluatedAt, START + 1_000);
  ready = true;
  assert.deepEqual(parts(change()), ['now', 'ready']);
  live.configuration.refused('file', ['wrong']);
  assert.deepEqual(parts(change()), ['configuration', 'now', 'warnings']);
  live.sidecars.joined({}, { node: 'n', cluster: '', zone: '', identity: 'i', peer: 'p', kind: 'ads' });
  assert.deepEqual(parts(change()), ['now', 'sidecars']);
  evaluate(3);
  assert.equal(whole().groups[0]?.membership, 2);
  configure('llama', 'mistral');
  assert.equal(whole().groups.length, 2);
});

test('who is told the whole misses nothing that was told to others alone before', () => {
  configure('llama');
  whole();
  change();
  ready = true;
  live.whole();
  ready = false;
  assert.ok(parts(change()).includes('ready'));
});

test('a point of the history is told once, each 5 s, with the slowest acknowledgement in between', () => {
  configure('llama');
  evaluate(2);
  whole();
  const points: unknown[] = [];
  for (let second = 1; second <= 11; second++) {
    nowMs += 1_000;
    live.applied('llama', second / 100);
    evaluate(2, second);
    const point = change().groups?.[0]?.point;
    if (point !== undefined) points.push([second, point.running, point.acknowledgementSeconds]);
  }
  assert.deepEqual(points, [
    [1, 6, null],
    [5, 10, 0.05],
    [10, 20, 0.1],
  ]);
  assert.equal(live.whole().groups[0]?.acknowledgementSeconds, 0.11);
});

test('history and trends are 15 minutes long, however long it runs', () => {
  configure('llama');
  for (let second = 0; second < 1_200; second++) {
    nowMs += 1_000;
    evaluate(2, second);
  }
  const [group] = live.whole().groups;
  assert.equal(group?.history.series.running.length, 180);
  assert.equal(group?.history.endAt, START + 1_200_000);
  const trends = JSON.parse([...(live.trends('llama') ?? [])].join('')) as {
    inside: number[][];
    weight: number[][];
  };
  assert.deepEqual(
    trends.inside.map((values) => values.length),
    [60, 60],
  );
  assert.equal(trends.inside[1]?.at(-1), 1_200);
  assert.deepEqual([trends.weight[0]?.at(-1), trends.weight[1]?.at(-1)], [0.5, 1.5]);
  assert.equal(live.trends('lama'), undefined);
});

test('times follow the monotonic clock when the other one jumps', () => {
  configure('llama');
  wallMs -= 3_600_000;
  nowMs += 2_000;
  assert.equal(live.whole().now, START + 2_000);
});

test('a group that is gone and comes back begins anew', () => {
  configure('llama');
  evaluate(2);
  configure('mistral');
  configure('llama');
  status = undefined;
  assert.deepEqual(live.whole().groups[0]?.history.series.running, []);
});

test('that no sidecar is connected is worth a warning after a minute', () => {
  assert.deepEqual(live.whole().warnings, []);
  nowMs += 61_000;
  assert.match(live.whole().warnings[0]?.text ?? '', /^no sidecar is connected/);
  live.sidecars.joined({}, { node: 'n', cluster: '', zone: '', identity: 'i', peer: 'p', kind: 'ads' });
  assert.deepEqual(live.whole().warnings, []);
});

test('a part of the file that needs a restart is warned of until the file has it as it was', () => {
  live.configuration.taken('file', 'a: 1\n', [], ['Xds', 'Log']);
  assert.match(live.whole().warnings[0]?.text ?? '', /^a change of Xds and Log waits for a restart$/);
  live.configuration.taken('file', 'a: 1\n', []);
  assert.deepEqual(live.whole().warnings, []);
});

test('the warnings of each group are counted as they are told, also before its first evaluation', () => {
  const discovery = new Map<string, DiscoveryStatus>([
    ['llama', { ...FOUND, leftOut: ['a pod without a port'] }],
    ['waiting', { ...FOUND, list: undefined, waiting: 'no answer yet' }],
  ]);
  const found = new LiveState({
    version: '1.2.3',
    file: 'plimsoll.yaml',
    ready: () => ready,
    status: (name) => (name === 'llama' ? status : undefined),
    discovery: (name) => discovery.get(name),
    now: () => nowMs,
    unixMs: () => wallMs,
  });
  found.configure(['llama', 'waiting', 'plain'].map((name) => ({ ...loadAwareGroup([backend(1)]), name })));
  const decision = groupDecision(
    'llama',
    [backendDecision(backend(1), { missed: 4 }), backendDecision(backend(2))],
    { atMs: nowMs, warnings: ['there is no backend'] },
  );
  const published = { decision, version: 'v1', atMs: nowMs, firstAcknowledgedAtMs: undefined };
  status = { newest: decision, published, streams: { following: 0, current: 0 } };
  const counts = [...found.warningCounts()];
  assert.deepEqual(counts, [
    ['llama', 3],
    ['waiting', 1],
    ['plain', 0],
  ]);
  assert.deepEqual(
    found.whole().groups.map(({ name, warnings }) => [name, warnings.length]),
    counts,
  );
});

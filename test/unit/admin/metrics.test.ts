import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '../../../src/admin/metrics.ts';
import type { CollectRun } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backend, backendDecision, groupDecision } from '../../support/decisions.ts';

const one = backend(1);
const two = backend(2);

const decision = groupDecision('llama', [
  backendDecision(one, {
    sample: { queued: 3, running: 7, kvUtilization: 0.5, finished: 12, latency: undefined },
    score: 40,
    share: 0.25,
    weight: 50_000,
    sampleAgeMs: 200,
  }),
  backendDecision(two, {
    sample: undefined,
    sampleAgeMs: undefined,
    score: undefined,
    health: undefined,
    weight: 0,
  }),
]);

const run: CollectRun = {
  startedAtMs: 0,
  endedAtMs: 10,
  outcomes: new Map([
    [
      two.id,
      {
        kind: 'failure',
        failure: { kind: 'status', message: 'status 500' },
        atMs: 5,
        durationMs: 5,
      } as const,
    ],
  ]),
};

/** The samples of a page whose name begins with `prefix`, by name and labels. */
async function samples(metrics: Metrics, prefix: string): Promise<Map<string, number>> {
  const lines = (await metrics.page()).split('\n').filter((line) => line.startsWith(prefix));
  return new Map(
    lines.map((line) => {
      const cut = line.lastIndexOf(' ');
      return [line.slice(0, cut), Number(line.slice(cut + 1))];
    }),
  );
}

const labels = (of: { readonly id: string }): string => `{server_group="llama",backend="${of.id}"}`;

test('a backend is shown as it was decided, its age as of the scrape', async () => {
  const metrics = new Metrics(
    () => [decision],
    () => decision.atMs + 300,
  );
  const page = await samples(metrics, 'plimsoll_backend_');
  for (const [name, value] of [
    ['weight', 50_000],
    ['share_ratio', 0.25],
    ['score_ratio', 0.4],
    ['queued_requests', 3],
    ['running_requests', 7],
    ['kv_cache_utilization_ratio', 0.5],
    ['capacity_ratio', 1],
    ['sample_age_seconds', 0.5],
    ['saturated', 0],
    ['frozen', 0],
    ['asleep', 0],
  ] as const) {
    assert.equal(page.get(`plimsoll_backend_${name}${labels(one)}`), value, name);
  }
});

test('what is unknown has no series', async () => {
  const metrics = new Metrics(
    () => [decision],
    () => decision.atMs,
  );
  const page = await samples(metrics, 'plimsoll_backend_');
  for (const name of ['score_ratio', 'queued_requests', 'kv_cache_utilization_ratio', 'sample_age_seconds']) {
    assert.equal(page.has(`plimsoll_backend_${name}${labels(two)}`), false, name);
  }
  assert.equal(page.get(`plimsoll_backend_weight${labels(two)}`), 0);
});

test('a backend whose engine sleeps is shown as asleep and absent', async () => {
  const asleep = groupDecision('llama', [
    backendDecision(one, { use: 'asleep', health: undefined, weight: 0, share: 0 }),
  ]);
  const metrics = new Metrics(
    () => [asleep],
    () => asleep.atMs,
  );
  assert.deepEqual([...(await samples(metrics, 'plimsoll_backend_asleep')).values()], [1]);
});

test('health and mode are state sets', async () => {
  const metrics = new Metrics(
    () => [decision],
    () => decision.atMs,
  );
  const health = await samples(metrics, 'plimsoll_backend_health');
  const holds = [...health].filter(([, value]) => value === 1).map(([key]) => key);
  assert.equal(health.size, 8);
  assert.deepEqual(holds, [
    `plimsoll_backend_health{server_group="llama",backend="${one.id}",state="HEALTHY"}`,
    `plimsoll_backend_health{server_group="llama",backend="${two.id}",state="ABSENT"}`,
  ]);
  const mode = await samples(metrics, 'plimsoll_server_group_mode');
  assert.deepEqual([...mode.values()], [1, 0, 0]);
});

test('the bytes of pages are counted by backend, the time that answers took by group', async () => {
  const metrics = new Metrics(
    () => [decision],
    () => decision.atMs,
  );
  const { outcomes } = run;
  const sample = { queued: 0, running: 0, kvUtilization: 0, finished: undefined, latency: undefined };
  const answered = { kind: 'sample', sample, engine: 'Vllm', bytes: 1200, atMs: 5, durationMs: 5 } as const;
  for (let times = 0; times < 2; times++) {
    metrics.evaluated(decision, { ...run, endedAtMs: 70, outcomes: new Map(outcomes).set(one.id, answered) });
  }
  const bytes = await samples(metrics, 'plimsoll_backend_collect_bytes_total');
  assert.deepEqual(new Set(bytes.values()), new Set([0, 2400]));
  const gather = await samples(metrics, 'plimsoll_server_group_gather_seconds');
  assert.equal(gather.get('plimsoll_server_group_gather_seconds_bucket{le="0.05",server_group="llama"}'), 0);
  assert.equal(gather.get('plimsoll_server_group_gather_seconds_bucket{le="0.075",server_group="llama"}'), 2);
  metrics.forget('llama');
  assert.deepEqual([...(await samples(metrics, 'plimsoll_server_group_gather_seconds_count'))], []);
});

test('the delay of the event loop is a histogram, without those of the library', async () => {
  const metrics = new Metrics(
    () => [],
    () => 0,
  );
  metrics.loopDelayed(0.03);
  const delays = await samples(metrics, 'plimsoll_event_loop_delay_seconds');
  assert.equal(delays.get('plimsoll_event_loop_delay_seconds_bucket{le="0.025"}'), 0);
  assert.equal(delays.get('plimsoll_event_loop_delay_seconds_bucket{le="0.05"}'), 1);
  assert.deepEqual([...(await samples(metrics, 'plimsoll_nodejs_eventloop'))], []);
});

test('collections and failures are counted by backend and reason, pushes by cause', async () => {
  const metrics = new Metrics(
    () => [decision],
    () => decision.atMs,
  );
  metrics.evaluated(decision, run);
  metrics.evaluated(decision, run);
  metrics.published(decision);
  const failures = await samples(metrics, 'plimsoll_backend_collect_failures_total');
  assert.deepEqual(
    [...failures],
    [
      [
        `plimsoll_backend_collect_failures_total{server_group="llama",backend="${two.id}",reason="status"}`,
        2,
      ],
    ],
  );
  const pushes = await samples(metrics, 'plimsoll_server_group_pushes_total');
  assert.deepEqual(
    [...pushes],
    [['plimsoll_server_group_pushes_total{server_group="llama",reason="shares"}', 1]],
  );
});

test('the time that collections took adds up, whether they succeeded or not', async () => {
  const metrics = new Metrics(
    () => [decision],
    () => decision.atMs,
  );
  metrics.evaluated(decision, run);
  metrics.evaluated(decision, run);
  assert.deepEqual(
    [...(await samples(metrics, 'plimsoll_backend_collect_seconds_total'))],
    [[`plimsoll_backend_collect_seconds_total${labels(two)}`, 0.01]],
  );
});

test('backends and groups that are gone leave no series behind', async () => {
  let decisions: readonly GroupDecision[] = [decision];
  const metrics = new Metrics(
    () => decisions,
    () => decision.atMs,
  );
  metrics.evaluated(decision, run);
  metrics.delays.acknowledgedAfter('llama', 0.02);
  const without = groupDecision('llama', decision.backends.slice(0, 1));
  decisions = [without];
  metrics.evaluated(without, run);
  assert.equal((await metrics.page()).includes(two.id), false);
  decisions = [];
  metrics.forget('llama');
  assert.equal((await metrics.page()).includes('llama'), false);
});

test('rejections are counted by type and node, with a bounded number of nodes', async () => {
  const metrics = new Metrics(
    () => [],
    () => 0,
  );
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 1000; i++) metrics.rejected('type.googleapis.com/envoy.Thing', `node ${i}`);
  }
  const page = await samples(metrics, 'plimsoll_xds_nacks_total');
  assert.equal(page.size, 101);
  assert.equal(page.get('plimsoll_xds_nacks_total{type="Thing",node="node 99"}'), 2);
  assert.equal(page.get('plimsoll_xds_nacks_total{type="Thing",node="other"}'), 1800);
});

test('refusals are counted by limit', async () => {
  const metrics = new Metrics(
    () => [],
    () => 0,
  );
  for (const limit of ['Streams', 'Names', 'Streams']) metrics.refused(limit);
  assert.deepEqual(
    await samples(metrics, 'plimsoll_xds_refused_total'),
    new Map([
      ['plimsoll_xds_refused_total{limit="Streams"}', 2],
      ['plimsoll_xds_refused_total{limit="Names"}', 1],
    ]),
  );
});

test('names begin with plimsoll_, counters end with _total, and every family has a help text', async () => {
  const metrics = new Metrics(
    () => [decision],
    () => decision.atMs,
  );
  metrics.evaluated(decision, run);
  const page = (await metrics.page()).split('\n');
  const families = page.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' '));
  assert.ok(families.length > 30);
  for (const [, , name, type] of families) {
    assert.match(name ?? '', /^plimsoll_[a-z0-9_]+$/);
    assert.ok(
      page.some((line) => line.startsWith(`# HELP ${name} `)),
      name,
    );
    if (type === 'counter') assert.match(name ?? '', /_total$/);
  }
});

test('the share that sidecars refuse as published, the wait as it was estimated', async () => {
  const figures = {
    backends: 2,
    marked: 0,
    medianQueued: 8,
    meanQueued: 9,
    finishedPerSecond: 5,
    waitSeconds: 1.8,
    medianWaitSeconds: 3.2,
    engagedAboveSeconds: 1.7,
    targetSeconds: 0.3,
  };
  const control = {
    waitSeconds: 1.8,
    elapsedSeconds: 1,
    timeConstantSeconds: 4,
    calmSeconds: 0,
    kept: 1,
    previous: 0,
    integral: 0.085,
  };
  const basis = { kind: 'measured', figures, control } as const;
  const shedding = groupDecision('llama', [], {
    admission: { kind: 'shedding', share: 0.3471, sparedUpTo: 24, basis },
    assignment: { serverGroup: 'llama', endpoints: [], dropShare: 0.345 },
  });
  const metrics = new Metrics(
    () => [shedding, groupDecision('plain', [])],
    () => 0,
  );
  assert.deepEqual(
    await samples(metrics, 'plimsoll_server_group_shed_ratio'),
    new Map([
      ['plimsoll_server_group_shed_ratio{server_group="llama"}', 0.345],
      ['plimsoll_server_group_shed_ratio{server_group="plain"}', 0],
    ]),
  );
  assert.deepEqual(
    await samples(metrics, 'plimsoll_server_group_wait_seconds'),
    new Map([['plimsoll_server_group_wait_seconds{server_group="llama"}', 1.8]]),
  );
});

test('warnings are those that are counted at each scrape, of the groups that there are', async () => {
  const counts = new Map([
    ['llama', 2],
    ['waiting', 1],
  ]);
  const metrics = new Metrics(
    () => [decision],
    () => decision.atMs,
  );
  metrics.showWarnings(() => counts);
  const name = 'plimsoll_server_group_warnings';
  assert.deepEqual(
    [...(await samples(metrics, name))],
    [
      [`${name}{server_group="llama"}`, 2],
      [`${name}{server_group="waiting"}`, 1],
    ],
  );
  counts.delete('waiting');
  assert.equal((await samples(metrics, name)).size, 1);
});

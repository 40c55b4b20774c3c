import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CollectorPool } from '../../../src/collect/pool.ts';
import type { ServerGroup } from '../../../src/core/model/server-group.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { serverGroup } from '../../support/configuration.ts';
import { GaugeBackend } from '../../support/gauge-backend.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A pool over real backends, with an interval that no test waits for. */
class Bench {
  readonly runs: (readonly string[])[] = [];
  readonly backends: readonly GaugeBackend[];
  readonly pool = new CollectorPool({
    clock: systemClock,
    log: silentLogger,
    onRun: (groups) => this.runs.push(groups),
  });

  constructor(count: number) {
    this.backends = Array.from({ length: count }, (_, i) => new GaugeBackend(`127.0.40.${i + 1}`));
  }

  async start(): Promise<void> {
    await Promise.all(this.backends.map((backend) => backend.start()));
  }

  async end(): Promise<void> {
    await this.pool.stop();
    await Promise.all(this.backends.map((backend) => backend.stop()));
  }

  group(name: string, members: readonly number[], weight = 100): ServerGroup {
    return serverGroup(name, {
      servers: members.flatMap((member) => {
        const backend = this.backends[member];
        return backend === undefined
          ? []
          : [{ id: backend.id, address: backend.address, port: backend.port, weight }];
      }),
      loadAware: {
        collect: collectSettings({ intervalSeconds: 50 }),
        balance: {
          scorers: [{ name: 'TotalQueuedRequests', weight: 1 }],
          policy: 'Adaptive',
          saturation: undefined,
          onCollectFailure: 'Keep',
        },
      },
    });
  }

  get scrapes(): readonly number[] {
    return this.backends.map((backend) => backend.scrapes);
  }
}

test('a backend in two groups is polled once for both', async (t) => {
  const bench = new Bench(2);
  await bench.start();
  t.after(() => bench.end());
  bench.pool.configure([bench.group('a', [0, 1]), bench.group('b', [1])]);
  await waitFor('a run', () => bench.runs.length > 0);
  assert.deepEqual(bench.runs, [['a', 'b']]);
  assert.deepEqual(bench.scrapes, [1, 1]);
});

test('nobody waits an interval: not a new group on known backends, nor a changed one', async (t) => {
  const bench = new Bench(2);
  await bench.start();
  t.after(() => bench.end());
  bench.pool.configure([bench.group('a', [0, 1])]);
  await waitFor('the first run', () => bench.runs.length === 1);
  bench.pool.configure([bench.group('a', [0, 1]), bench.group('b', [0])]);
  await waitFor('a run for the new group', () => bench.runs.length === 2);
  assert.deepEqual(bench.runs[1], ['a', 'b']);
  bench.pool.configure([bench.group('a', [0, 1]), bench.group('b', [0], 50)]);
  await waitFor('a run for the changed group', () => bench.runs.length === 3);
});

test('the same configuration again asks nobody', async (t) => {
  const bench = new Bench(1);
  await bench.start();
  t.after(() => bench.end());
  bench.pool.configure([bench.group('a', [0])]);
  await waitFor('the first run', () => bench.runs.length === 1);
  bench.pool.configure([bench.group('a', [0])]);
  await bench.pool.stop();
  assert.deepEqual(bench.scrapes, [1]);
});

test('a collector that nobody needs any more ends', async (t) => {
  const bench = new Bench(1);
  await bench.start();
  t.after(() => bench.end());
  bench.pool.configure([bench.group('a', [0])]);
  await waitFor('the first run', () => bench.runs.length === 1);
  bench.pool.configure([]);
  await bench.pool.stop();
  assert.equal(bench.runs.length, 1);
});

test('a backend that says itself where its page is, is asked there, and elsewhere when it says so', async () => {
  const bench = new Bench(1);
  const other = new GaugeBackend('127.0.40.1');
  await Promise.all([bench.start(), other.start()]);
  const asked: (string | undefined)[] = [];
  other.metrics = ({ url }, response) => {
    asked.push(url);
    response.writeHead(404).end();
  };
  const group = bench.group('llama', [0]);
  const at = (metrics: { readonly port: number; readonly path?: string }): ServerGroup => ({
    ...group,
    servers: group.servers.map((server) => ({ ...server, metrics })),
  });
  try {
    bench.pool.configure([at({ port: other.port, path: '/metrics' })]);
    await waitFor('the first page', () => bench.runs.length > 0);
    assert.deepEqual(bench.scrapes, [0]);
    assert.ok(asked.every((url) => url?.startsWith('/metrics')));
    bench.pool.configure([group]);
    await waitFor('its own page', () => bench.scrapes[0] !== 0);
    const known = asked.length;
    bench.pool.configure([at({ port: other.port }), bench.group('mistral', [0])]);
    await waitFor('the other page again', () => asked.length > known);
  } finally {
    await bench.end();
    await other.stop();
  }
});

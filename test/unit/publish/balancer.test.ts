import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Backend } from '../../../src/core/model/backend.ts';
import type { CollectOutcome, CollectRun } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import type { ServerGroup } from '../../../src/core/model/server-group.ts';
import { Balancer } from '../../../src/publish/balancer.ts';
import { type Encoder, Publisher } from '../../../src/publish/publisher.ts';
import { SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { serverGroup as plainGroup } from '../../support/configuration.ts';
import { backend } from '../../support/decisions.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const encoder: Encoder = {
  endpointType: 'type/Endpoints',
  clusterType: 'type/Cluster',
  endpoints: (assignment) => ({
    typeUrl: 'type/Endpoints',
    name: assignment.serverGroup,
    bytes: Buffer.from(JSON.stringify(assignment)),
  }),
};

function group(name: string, servers: readonly Backend[], loadAware = true): ServerGroup {
  return plainGroup(name, {
    servers,
    loadAware: loadAware
      ? {
          collect: collectSettings(),
          balance: {
            scorers: [{ name: 'TotalQueuedRequests', weight: 1 }],
            policy: 'Adaptive',
            saturation: undefined,
            onCollectFailure: 'Keep',
          },
        }
      : undefined,
  });
}

class Bench {
  readonly clock = new FakeClock(1000);
  readonly store = new SnapshotStore();
  readonly publisher = new Publisher(encoder, [{ store: this.store, listener: () => [] }]);
  readonly evaluated: GroupDecision[] = [];
  readonly published: { readonly serverGroup: string; readonly version: string }[] = [];
  readonly delays: (readonly [string, number])[] = [];
  /** Group, and milliseconds of each part. */
  readonly applied: (readonly (string | number)[])[] = [];
  readonly unapplied: (readonly [string, string, number])[] = [];
  readonly balancer = new Balancer({
    publisher: this.publisher,
    clock: this.clock,
    log: silentLogger,
    observer: {
      evaluated: (decision) => this.evaluated.push(decision),
      published: ({ serverGroup }, { version }) => this.published.push({ serverGroup, version }),
      acknowledgedAfter: (serverGroup, seconds) => this.delays.push([serverGroup, seconds]),
      applied: (serverGroup, { collect, publish, sidecars }) =>
        this.applied.push([serverGroup, ...[collect, publish, sidecars].map((of) => Math.round(of * 1000))]),
      unapplied: (serverGroup, reason, streams) => this.unapplied.push([serverGroup, reason, streams]),
    },
  });

  configure(groups: readonly ServerGroup[]): void {
    this.publisher.configure(groups, [], 0);
    this.balancer.configure(groups);
  }

  /** A collection that began 20 ms ago and in which every given backend has answered. */
  run(queues: ReadonlyMap<string, number>): CollectRun {
    const atMs = this.clock.now();
    const outcomes = new Map<string, CollectOutcome>();
    for (const [id, queued] of queues) {
      const sample = { queued, running: 10, kvUtilization: 0.1, finished: atMs, latency: undefined };
      outcomes.set(id, { kind: 'sample', sample, engine: 'Vllm', atMs, durationMs: 5, bytes: 100 });
    }
    return { startedAtMs: atMs - 20, endedAtMs: atMs, outcomes };
  }

  /** In the order of the addresses, from what sidecars get. */
  publishedShares(serverGroup: string): readonly number[] {
    const weights =
      this.store.current?.assignments.get(serverGroup)?.endpoints.map(({ weight }) => weight) ?? [];
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  }

  shareOf(serverGroup: string, id: string): number | undefined {
    const decision = this.balancer.decisions.find((one) => one.serverGroup === serverGroup);
    return decision?.backends.find((one) => one.backend.id === id)?.share;
  }
}

const [a, b] = [backend(1), backend(2)];
const UNEQUAL = new Map([
  [a.id, 8],
  [b.id, 0],
]);

test('a group without metrics is published at once by its configured weights', () => {
  const bench = new Bench();
  bench.configure([group('plain', [a, b], false)]);
  assert.equal(bench.publisher.complete, true);
  assert.deepEqual(
    bench.published.map(({ serverGroup }) => serverGroup),
    ['plain'],
  );
  assert.equal(bench.shareOf('plain', a.id), 0.5);
});

test('a load-aware group waits for a collection, then follows the load', async () => {
  const bench = new Bench();
  bench.configure([group('llama', [a, b])]);
  assert.equal(bench.publisher.complete, false);
  await bench.clock.advance(100);
  bench.balancer.evaluate(['llama'], bench.run(UNEQUAL));
  assert.equal(bench.publisher.complete, true);
  assert.ok((bench.shareOf('llama', a.id) ?? 1) < 0.4);
});

test('a run that began before the group was configured does not count', () => {
  const bench = new Bench();
  bench.configure([group('llama', [a, b])]);
  bench.balancer.evaluate(['llama'], bench.run(new Map([[a.id, 0]])));
  assert.equal(bench.evaluated.length, 0);
});

test('a reload that changes nothing of a group keeps what it has learned, and publishes nothing', async () => {
  const bench = new Bench();
  bench.configure([group('llama', [a, b])]);
  await bench.clock.advance(100);
  bench.balancer.evaluate(['llama'], bench.run(UNEQUAL));
  const share = bench.shareOf('llama', a.id);
  const pushes = bench.published.length;
  bench.configure([group('llama', [a, b]), group('other', [a], false)]);
  assert.equal(bench.shareOf('llama', a.id), share);
  assert.deepEqual(
    bench.published.slice(pushes).map(({ serverGroup }) => serverGroup),
    ['other'],
  );
  // the same run counts: nothing has changed for this group
  const evaluations = bench.evaluated.length;
  bench.balancer.evaluate(['llama'], bench.run(UNEQUAL));
  assert.equal(bench.evaluated.length, evaluations + 1);
});

test('a group that is gone is evaluated no more', async () => {
  const bench = new Bench();
  bench.configure([group('llama', [a, b])]);
  await bench.clock.advance(100);
  bench.configure([group('other', [a], false)]);
  bench.balancer.evaluate(['llama'], bench.run(new Map([[a.id, 0]])));
  assert.deepEqual(
    bench.balancer.decisions.map(({ serverGroup }) => serverGroup),
    ['other'],
  );
});

test('the first acknowledgement of what a collection changed is the delay that the next evaluation uses', async () => {
  const bench = new Bench();
  bench.configure([group('llama', [a, b])]);
  await bench.clock.advance(100);
  bench.balancer.evaluate(['llama'], bench.run(UNEQUAL));
  const version = bench.published.at(-1)?.version ?? '';
  const atMs = bench.clock.now() + 980;
  bench.balancer.acknowledged('llama', version, { stream: {}, zone: '', subscribedAtMs: 0, atMs });
  assert.deepEqual(bench.delays, [['llama', 1]]);
  await bench.clock.advance(1000);
  bench.balancer.evaluate(['llama'], bench.run(UNEQUAL));
  const delay = bench.evaluated.at(-1)?.delaySeconds ?? 0;
  assert.ok(delay > 0.1 && delay < 1, `a moving average between 0.1 s and 1 s: ${delay}`);
});

test('the last acknowledgement tells where the time went, and who left or refused is not waited for', async () => {
  const bench = new Bench();
  bench.configure([group('llama', [a, b]), group('other', [a])]);
  await bench.clock.advance(100);
  const streams = [{}, {}, {}, {}, {}] as const;
  const take = (stream: object, afterMs: number): void => {
    const atMs = bench.clock.now() + afterMs;
    const version = bench.published.at(-1)?.version ?? '';
    bench.balancer.acknowledged('llama', version, { stream, zone: '', subscribedAtMs: 0, atMs });
  };
  bench.balancer.evaluate(['llama'], bench.run(UNEQUAL));
  for (const stream of streams) take(stream, 5);
  assert.deepEqual(bench.applied, []);
  await bench.clock.advance(1000);
  bench.balancer.evaluate(
    ['llama'],
    bench.run(
      new Map([
        [a.id, 0],
        [b.id, 8],
      ]),
    ),
  );
  const [one, two, leaving, unsubscribing, refusing] = streams;
  take(one, 7);
  take(two, 9);
  bench.balancer.left(leaving);
  bench.balancer.unsubscribed('other', refusing);
  bench.balancer.unsubscribed('gone', refusing);
  bench.balancer.unsubscribed('llama', unsubscribing);
  bench.balancer.rejected('llama', bench.published.at(-1)?.version ?? '', refusing);
  assert.deepEqual(bench.applied, [['llama', 20, 0, 9]]);
  assert.deepEqual(bench.unapplied, [
    ['llama', 'left', 1],
    ['llama', 'left', 1],
    ['llama', 'rejected', 1],
  ]);
});

test('where a group stands: what sidecars have and what it came from, beside the newest decision', async () => {
  const bench = new Bench();
  const equal = new Map([a, b].map(({ id }) => [id, 1]));
  bench.configure([group('llama', [a, b])]);
  assert.deepEqual([bench.balancer.names, bench.balancer.status('llama')], [['llama'], undefined]);
  await bench.clock.advance(100);
  bench.balancer.evaluate(['llama'], bench.run(equal));
  const stands = () => {
    const status = bench.balancer.status('llama');
    assert.ok(status !== undefined);
    const { decision, version, atMs, firstAcknowledgedAtMs } = status.published;
    const places = [decision, status.newest].map((of) => bench.evaluated.indexOf(of));
    return { places, version, atMs, firstAcknowledgedAtMs, streams: status.streams };
  };
  const [{ version } = { version: '' }] = bench.published;
  const published = { version, atMs: 1100, firstAcknowledgedAtMs: undefined };
  assert.deepEqual(stands(), { places: [0, 0], ...published, streams: { following: 0, current: 0 } });
  for (const [afterMs, stream] of [{}, {}].entries()) {
    bench.balancer.acknowledged('llama', version, {
      stream,
      zone: '',
      subscribedAtMs: 0,
      atMs: 1105 + afterMs,
    });
  }
  // nothing to publish
  await bench.clock.advance(1000);
  bench.balancer.evaluate(['llama'], bench.run(equal));
  assert.equal(bench.published.length, 1);
  const acknowledged = { ...published, firstAcknowledgedAtMs: 1105 };
  assert.deepEqual(stands(), { places: [0, 1], ...acknowledged, streams: { following: 2, current: 2 } });
  await bench.clock.advance(1000);
  bench.balancer.evaluate(['llama'], bench.run(UNEQUAL));
  const next = { version: bench.published[1]?.version, atMs: 3100, firstAcknowledgedAtMs: undefined };
  assert.deepEqual(stands(), { places: [2, 2], ...next, streams: { following: 2, current: 0 } });
});

test('plain for a while and load-aware again: what is published is what was decided', async () => {
  const bench = new Bench();
  bench.configure([group('llama', [a, b])]);
  await bench.clock.advance(100);
  bench.balancer.evaluate(['llama'], bench.run(UNEQUAL));
  bench.configure([group('llama', [a, b], false)]);
  assert.deepEqual(bench.publishedShares('llama'), [0.5, 0.5]);
  bench.configure([group('llama', [a, b])]);
  await bench.clock.advance(100);
  bench.balancer.evaluate(['llama'], bench.run(UNEQUAL));
  const [share] = bench.publishedShares('llama');
  assert.ok((share ?? 1) < 0.4, `the loaded one has ${share}`);
  assert.equal(share, bench.shareOf('llama', a.id));
});

test('a fault in one group does not touch the next', async () => {
  const bench = new Bench();
  const broken = { ...backend(3), address: 'no-address', id: 'no-address:8000' };
  bench.configure([group('broken', [broken]), group('llama', [a, b])]);
  await bench.clock.advance(100);
  bench.balancer.evaluate(
    ['broken', 'llama'],
    bench.run(
      new Map([
        [a.id, 0],
        [b.id, 0],
        [broken.id, 0],
      ]),
    ),
  );
  assert.deepEqual(
    bench.published.map(({ serverGroup }) => serverGroup),
    ['llama'],
  );
});

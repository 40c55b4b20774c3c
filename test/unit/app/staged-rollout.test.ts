import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StagedRollout } from '../../../src/app/staged-rollout.ts';
import type { Listener } from '../../../src/core/model/configuration.ts';
import type { ServerGroup } from '../../../src/core/model/server-group.ts';
import { type Encoder, type Outlet, Publisher } from '../../../src/publish/publisher.ts';
import { ROLLOUT_TIMES } from '../../../src/publish/rollout.ts';
import { SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { listener, serverGroup } from '../../support/configuration.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const [CDS, EDS, RDS] = ['type/Cluster', 'type/Endpoints', 'type/Route'];
const { followMs, retireMs } = ROLLOUT_TIMES;
const HOUR_MS = 3_600_000;

const encoder: Encoder = {
  clusterType: CDS,
  endpointType: EDS,
  endpoints: ({ serverGroup: name }) => ({ typeUrl: EDS, name, bytes: Buffer.from(name) }),
};

function setUp() {
  const clock = new FakeClock();
  const store = new SnapshotStore();
  let encoded = 0;
  const encode: Outlet['listener'] = ({ name, port }, group) => {
    encoded++;
    return [
      { typeUrl: CDS, name: group.name, bytes: Buffer.from(group.envoyLbPolicy) },
      { typeUrl: RDS, name, bytes: Buffer.from(`${port} ${group.name}`) },
    ];
  };
  const publisher = new Publisher(encoder, [{ store, listener: encode }]);
  const rollout = new StagedRollout(publisher, clock);
  const names = (type: string) => [...(store.current?.resources.get(type)?.keys() ?? [])];
  return {
    clock,
    publisher,
    rollout,
    encoded: () => encoded,
    route: () => store.current?.resources.get(RDS)?.get('inference')?.serverGroup,
    clusters: () => names(CDS),
    endpoints: () => names(EDS),
    reload(groups: readonly (string | ServerGroup)[], listeners: readonly Listener[]) {
      const serverGroups = groups.map((group) => (typeof group === 'string' ? serverGroup(group) : group));
      const gone = rollout.begin({ serverGroups, listeners });
      rollout.advance();
      return gone;
    },
    publish(...of: readonly string[]) {
      for (const name of of) {
        const endpoint = { address: '10.0.0.1', port: 8000, weight: 100, health: 'HEALTHY' } as const;
        publisher.publish({ serverGroup: name, endpoints: [endpoint], dropShare: 0 });
        rollout.published(name);
      }
    },
  };
}

/** `llama` has been in force for a while, then it is replaced. */
async function renamed() {
  const fleet = setUp();
  fleet.reload(['llama'], [listener('llama')]);
  fleet.publish('llama');
  await fleet.clock.advance(60_000);
  assert.deepEqual(fleet.reload(['llama-k8s'], [listener('llama-k8s')]), ['llama']);
  return fleet;
}

test('a renamed group without an assignment: the route stays with the former one, however long, and moves then', async () => {
  const fleet = await renamed();
  await fleet.clock.advance(HOUR_MS);
  assert.deepEqual([fleet.route(), fleet.clusters(), fleet.endpoints()], ['llama', ['llama'], ['llama']]);
  assert.equal(fleet.clock.pending, 0);

  fleet.publish('llama-k8s');
  await fleet.clock.advance(followMs - 1);
  const both = ['llama', 'llama-k8s'];
  assert.deepEqual([fleet.route(), fleet.clusters()], ['llama', both]);
  await fleet.clock.advance(1);
  assert.deepEqual([fleet.route(), fleet.clusters(), fleet.endpoints()], ['llama-k8s', both, both]);
  await fleet.clock.advance(retireMs);
  assert.deepEqual([fleet.clusters(), fleet.endpoints()], [['llama-k8s'], ['llama-k8s']]);
  assert.equal(fleet.clock.pending, 0);
});

test('renamed once more while it waits: the first one stays until the last one has an assignment', async () => {
  const fleet = await renamed();
  await fleet.clock.advance(HOUR_MS);
  fleet.reload(['llama-v3'], [listener('llama-v3')]);
  await fleet.clock.advance(HOUR_MS);
  assert.deepEqual([fleet.route(), fleet.clusters()], ['llama', ['llama']]);
  fleet.publish('llama-v3');
  await fleet.clock.advance(followMs);
  assert.equal(fleet.route(), 'llama-v3');
});

test('the former name comes back while the new one waits: the route stays there', async () => {
  const fleet = await renamed();
  await fleet.clock.advance(HOUR_MS);
  const changed = serverGroup('llama', { envoyLbPolicy: 'RoundRobin' });
  fleet.reload([changed, 'llama-k8s'], [listener('llama-k8s')]);
  await fleet.clock.advance(HOUR_MS);
  assert.deepEqual([fleet.route(), fleet.clusters(), fleet.endpoints()], ['llama', ['llama'], []]);
  fleet.publish('llama');
  assert.deepEqual([fleet.route(), fleet.endpoints()], ['llama', ['llama']]);
});

test('back to a group that was left out for a while: only when it has an assignment of its own again', async () => {
  const fleet = setUp();
  fleet.reload(['a', 'b'], [listener('a')]);
  fleet.publish('a', 'b');
  fleet.reload(['b'], [listener('b')]);
  await fleet.clock.advance(followMs);
  fleet.reload(['a', 'b'], [listener('a')]);
  await fleet.clock.advance(followMs);
  assert.deepEqual([fleet.route(), fleet.endpoints()], ['b', ['b']]);
  fleet.publish('a');
  await fleet.clock.advance(followMs);
  assert.equal(fleet.route(), 'a');
});

test('a group that is there and has not been evaluated yet is waited for as well', async () => {
  const fleet = setUp();
  fleet.reload(['a', 'b'], [listener('a')]);
  fleet.publish('a');
  fleet.reload(['a', 'b'], [listener('b')]);
  await fleet.clock.advance(HOUR_MS);
  assert.equal(fleet.route(), 'a');
});

test('a listener that goes while it waits lets the former group go', async () => {
  const fleet = setUp();
  const other = listener('other', { name: 'other' });
  fleet.reload(['llama', 'other'], [listener('llama'), other]);
  fleet.publish('llama', 'other');
  fleet.reload(['llama-k8s', 'other'], [listener('llama-k8s'), other]);
  await fleet.clock.advance(HOUR_MS);
  fleet.reload(['llama-k8s', 'other'], [other]);
  assert.deepEqual(fleet.endpoints(), ['llama', 'other']);
  await fleet.clock.advance(retireMs);
  assert.deepEqual([fleet.clusters(), fleet.endpoints()], [['other'], ['other']]);
});

for (const [what, pauseMs] of Object.entries({ 'a moment': 1, hours: 4 * HOUR_MS })) {
  test(`no listeners for ${what}: sidecars keep theirs, and a listener that returns with another group moves as ever`, async () => {
    const fleet = setUp();
    fleet.reload(['a'], [listener('a')]);
    fleet.publish('a');
    await fleet.clock.advance(60_000);
    // nothing is said of routes, and the cluster and the assignment that they need stay
    assert.deepEqual(fleet.reload([], []), ['a']);
    await fleet.clock.advance(pauseMs);
    fleet.reload([], []);
    assert.deepEqual([fleet.route(), fleet.clusters(), fleet.endpoints()], [undefined, ['a'], ['a']]);
    fleet.reload(['b'], [listener('b')]);
    await fleet.clock.advance(HOUR_MS);
    assert.deepEqual([fleet.route(), fleet.clusters(), fleet.endpoints()], ['a', ['a'], ['a']]);
    fleet.publish('b');
    await fleet.clock.advance(followMs - 1);
    assert.deepEqual([fleet.route(), fleet.clusters()], ['a', ['a', 'b']]);
    await fleet.clock.advance(1);
    assert.equal(fleet.route(), 'b');
    await fleet.clock.advance(retireMs);
    assert.deepEqual([fleet.clusters(), fleet.endpoints()], [['b'], ['b']]);
    assert.equal(fleet.clock.pending, 0);
  });
}

test('no listeners for hours, then one with another group that has an assignment: its cluster goes out first', async () => {
  const fleet = setUp();
  fleet.reload(['a', 'b'], [listener('a')]);
  fleet.publish('a', 'b');
  fleet.reload(['a', 'b'], []);
  await fleet.clock.advance(HOUR_MS);
  fleet.reload(['a', 'b'], [listener('b')]);
  assert.deepEqual([fleet.route(), fleet.clusters()], ['a', ['a', 'b']]);
  await fleet.clock.advance(followMs);
  assert.equal(fleet.route(), 'b');
});

test('many groups that have their first assignment at once move their listeners in one go', async () => {
  const fleet = setUp();
  const names = Array.from({ length: 100 }, (_, i) => `g${i}`);
  const to = (suffix: string) => names.map((name) => listener(name + suffix, { name }));
  fleet.reload(names, to(''));
  fleet.publish(...names);
  const moved = names.map((name) => `${name}-new`);
  fleet.reload([...names, ...moved], to('-new'));
  const before = fleet.encoded();
  fleet.publish(...moved);
  await fleet.clock.advance(followMs);
  assert.equal(fleet.encoded() - before, names.length);
  assert.equal(fleet.clusters().length, 2 * names.length);
});

test('a stopped one takes no step and sets no timer', async () => {
  const fleet = await renamed();
  fleet.rollout.stop();
  fleet.publish('llama-k8s');
  assert.equal(fleet.clock.pending, 0);
  await fleet.clock.advance(HOUR_MS);
  assert.equal(fleet.route(), 'llama');
});

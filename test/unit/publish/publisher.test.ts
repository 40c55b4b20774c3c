import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Assignment } from '../../../src/core/model/assignment.ts';
import type { Listener } from '../../../src/core/model/configuration.ts';
import { type Encoder, type Outlet, Publisher } from '../../../src/publish/publisher.ts';
import { ROLLOUT_TIMES } from '../../../src/publish/rollout.ts';
import { serverGroup as group } from '../../support/configuration.ts';
import { type Snapshot, SnapshotStore } from '../../../src/publish/snapshot-store.ts';

const FOLLOWED_MS = ROLLOUT_TIMES.followMs;
const RETIRED_MS = 2 * (FOLLOWED_MS + ROLLOUT_TIMES.retireMs);

const EDS = 'type/Endpoints';
const LDS = 'type/Listener';
const CDS = 'type/Cluster';

const encoder: Encoder = {
  endpointType: EDS,
  clusterType: CDS,
  endpoints: (assignment) => ({
    typeUrl: EDS,
    name: assignment.serverGroup,
    bytes: Buffer.from(JSON.stringify(assignment)),
  }),
};

const encodeListener: Outlet['listener'] = (one, of) => [
  { typeUrl: CDS, name: of.name, bytes: Buffer.from(`${of.name} ${of.envoyLbPolicy}`) },
  { typeUrl: LDS, name: one.name, bytes: Buffer.from(`${one.name} of ${of.name}`) },
];

const listener = (name: string, serverGroup: string): Listener => ({
  name,
  address: '127.0.0.1',
  port: 10000,
  serverGroup,
});
const assignment = (serverGroup: string, weight: number): Assignment => ({
  serverGroup,
  endpoints: [{ address: '10.0.3.11', port: 8000, weight, health: 'HEALTHY' }],
  dropShare: 0,
});

function setUp() {
  const store = new SnapshotStore();
  const seen: Snapshot[] = [];
  store.subscribe((snapshot) => seen.push(snapshot));
  const served = (type: string) =>
    [...(store.current?.resources.get(type)?.values() ?? [])].map(({ bytes }) => bytes.toString());
  return { publisher: new Publisher(encoder, [{ store, listener: encodeListener }]), store, seen, served };
}

test('a group without an assignment is held', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a'), group('b')], [], 0);
  publisher.publish(assignment('a', 1));
  assert.deepEqual([...(store.current?.held.get(EDS) ?? [])], ['b']);
  assert.deepEqual([...(store.current?.resources.get(EDS)?.keys() ?? [])], ['a']);
  assert.equal(publisher.complete, false);
  publisher.publish(assignment('b', 1));
  assert.equal(publisher.complete, true);
  assert.equal(store.current?.held.get(EDS)?.size, 0);
});

test('equal content has an equal version and makes no snapshot', () => {
  const { publisher, seen } = setUp();
  publisher.configure([group('a')], [], 0);
  const first = publisher.publish(assignment('a', 1));
  const snapshots = seen.length;
  const again = { version: first.version, changed: false, zones: new Map(), news: false };
  assert.deepEqual(publisher.publish(assignment('a', 1)), again);
  assert.equal(seen.length, snapshots);
  const other = publisher.publish(assignment('a', 2));
  assert.equal(other.changed, true);
  assert.notEqual(other.version, first.version);

  const replica = setUp();
  replica.publisher.configure([group('a')], [], 0);
  assert.equal(replica.publisher.publish(assignment('a', 1)).version, first.version);
});

test('a snapshot does not change after it was stored', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a')], [], 0);
  publisher.publish(assignment('a', 1));
  const before = store.current;
  const version = before?.resources.get(EDS)?.get('a')?.version;
  publisher.configure([], [], 0);
  publisher.advance(RETIRED_MS);
  publisher.configure([group('a')], [], 0);
  publisher.publish(assignment('a', 2));
  assert.equal(before?.resources.get(EDS)?.get('a')?.version, version);
  assert.equal(before?.assignments.get('a')?.endpoints[0]?.weight, 1);
});

test('a group that goes is served until it is retired, then held, and answered again when it is back', () => {
  const { publisher, store } = setUp();
  const endpoints = () => [...(store.current?.resources.get(EDS)?.keys() ?? [])];
  publisher.configure([group('a'), group('b')], [], 0);
  publisher.publish(assignment('a', 1));
  publisher.publish(assignment('b', 1));
  assert.deepEqual(publisher.configure([group('b')], [], 0), ['a']);
  assert.deepEqual(endpoints(), ['a', 'b']);
  assert.equal(publisher.complete, true);
  publisher.advance(RETIRED_MS);
  assert.deepEqual(endpoints(), ['b']);
  assert.deepEqual([...(store.current?.held.get(EDS) ?? [])], ['a']);
  assert.deepEqual([...(store.current?.assignments.keys() ?? [])], ['b']);
  publisher.configure([group('a'), group('b')], [], 0);
  assert.equal(publisher.complete, false);
  publisher.publish(assignment('a', 3));
  assert.equal(store.current?.held.get(EDS)?.size, 0);
});

test('a group that is back before it was retired is a new one, and is not retired', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a')], [], 0);
  publisher.publish(assignment('a', 1));
  publisher.configure([], [], 0);
  publisher.configure([group('a')], [], 0);
  assert.equal(publisher.complete, false);
  assert.deepEqual([...(store.current?.held.get(EDS) ?? [])], ['a']);
  publisher.publish(assignment('a', 2));
  publisher.advance(RETIRED_MS);
  assert.equal(store.current?.resources.get(EDS)?.has('a'), true);
  assert.equal(publisher.complete, true);
});

test('a group that goes before it had an assignment is held', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a')], [], 0);
  publisher.configure([], [], 0);
  assert.deepEqual([...(store.current?.held.get(EDS) ?? [])], ['a']);
  publisher.advance(RETIRED_MS);
  assert.deepEqual([...(store.current?.held.get(EDS) ?? [])], ['a']);
});

test('a listener goes to another group in three steps: the cluster, the listener, the end of the old cluster', () => {
  const { publisher, store } = setUp();
  const served = (type: string) =>
    [...(store.current?.resources.get(type)?.values() ?? [])].map(({ bytes }) =>
      Buffer.from(bytes).toString(),
    );
  publisher.configure([group('a'), group('b')], [listener('one', 'a')], 0);
  assert.deepEqual([served(CDS), served(LDS)], [['a LeastRequest'], ['one of a']]);
  publisher.configure([group('a'), group('b')], [listener('one', 'b')], 0);
  assert.deepEqual([served(CDS), served(LDS)], [['a LeastRequest', 'b LeastRequest'], ['one of a']]);
  publisher.advance(FOLLOWED_MS);
  assert.deepEqual([served(CDS), served(LDS)], [['a LeastRequest', 'b LeastRequest'], ['one of b']]);
  publisher.advance(RETIRED_MS);
  assert.deepEqual([served(CDS), served(LDS)], [['b LeastRequest'], ['one of b']]);
});

test('what needs no new cluster goes out at once, and a cluster that nobody uses stays until it is retired', () => {
  const { publisher, store } = setUp();
  const served = (type: string) =>
    [...(store.current?.resources.get(type)?.values() ?? [])].map(({ bytes }) =>
      Buffer.from(bytes).toString(),
    );
  publisher.configure([group('a'), group('b')], [listener('one', 'a'), listener('two', 'b')], 0);
  const changed = { ...group('a'), envoyLbPolicy: 'RoundRobin' } as const;
  publisher.configure([changed, group('b')], [listener('two', 'a')], 0);
  assert.deepEqual([served(CDS), served(LDS)], [['a RoundRobin', 'b LeastRequest'], ['two of a']]);
  publisher.configure([group('b')], [], 0);
  assert.deepEqual([served(CDS), served(LDS)], [['a RoundRobin', 'b LeastRequest'], []]);
  publisher.advance(RETIRED_MS);
  assert.deepEqual([served(CDS), served(LDS)], [['a RoundRobin'], []], 'sidecars keep their listener');
});

test('an assignment ends with its cluster, also where that is of listeners which never came to be followed', () => {
  const { publisher, served } = setUp();
  publisher.configure([group('a'), group('b')], [listener('one', 'a')], 0);
  publisher.publish(assignment('a', 1));
  publisher.publish(assignment('b', 1));
  publisher.configure([group('a'), group('b')], [listener('one', 'b')], 0);
  // before anybody is told to use b, which would take FOLLOWED_MS
  publisher.configure([group('b')], [], 1);
  publisher.advance(RETIRED_MS);
  assert.deepEqual(served(CDS), ['a LeastRequest']);
  assert.equal(
    served(EDS).some((text) => text.includes('"a"')),
    true,
    'sidecars keep the listener that uses it',
  );
});

test('each kind of clients gets listeners in its own words, and all the same assignments', () => {
  const [one, other] = [new SnapshotStore(), new SnapshotStore()];
  const publisher = new Publisher(encoder, [
    { store: one, listener: encodeListener },
    { store: other, listener: (_, of) => [{ typeUrl: LDS, name: of.name, bytes: Buffer.from('other') }] },
  ]);
  publisher.configure([group('a')], [listener('one', 'a')], 0);
  publisher.publish(assignment('a', 1));
  assert.deepEqual([...(one.current?.resources.get(LDS)?.keys() ?? [])], ['one']);
  assert.deepEqual([...(other.current?.resources.get(LDS)?.keys() ?? [])], ['a']);
  assert.equal(one.current?.resources.get(EDS), other.current?.resources.get(EDS));
});

test('listeners are published as the configuration has them; without any their types are not served', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a')], [listener('one', 'a'), listener('two', 'a')], 0);
  assert.deepEqual([...(store.current?.resources.get(LDS)?.keys() ?? [])], ['one', 'two']);
  publisher.configure([group('a')], [listener('two', 'a')], 0);
  assert.deepEqual([...(store.current?.resources.get(LDS)?.keys() ?? [])], ['two']);
  publisher.configure([group('a')], [], 0);
  assert.equal(store.current?.resources.has(LDS), false);
});

test('an assignment that breaks a rule is refused, and what was published stands', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a')], [], 0);
  const { version } = publisher.publish(assignment('a', 1));
  assert.throws(() => publisher.publish(assignment('a', 0)), {
    name: 'PlimsollError',
    code: 'internal',
    message:
      'the assignment of server group a is not published: 10.0.3.11|8000: the weight 0 is not an integer of at least 1',
  });
  assert.equal(store.current?.resources.get(EDS)?.get('a')?.version, version);
});

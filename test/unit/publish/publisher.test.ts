import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Assignment, Listener, ServerGroup } from '../../../src/core/model.ts';
import { type Encoder, Publisher } from '../../../src/publish/publisher.ts';
import { type Snapshot, SnapshotStore } from '../../../src/publish/snapshot-store.ts';

const EDS = 'type/Endpoints';
const LDS = 'type/Listener';

const encoder: Encoder = {
  endpointType: EDS,
  endpoints: (assignment) => ({
    typeUrl: EDS,
    name: assignment.serverGroup,
    bytes: Buffer.from(JSON.stringify(assignment)),
  }),
  listener: (listener, of) => [
    { typeUrl: LDS, name: listener.name, bytes: Buffer.from(`${listener.name} of ${of.name}`) },
  ],
};

const group = (name: string): ServerGroup => ({
  name,
  envoyLbPolicy: 'LeastRequest',
  retryAfterSeconds: 1,
  servers: [],
  loadAware: undefined,
});
const listener = (name: string, serverGroup: string): Listener => ({
  name,
  address: '127.0.0.1',
  port: 10000,
  serverGroup,
});
const assignment = (serverGroup: string, weight: number): Assignment => ({
  serverGroup,
  endpoints: [{ address: '10.0.3.11', port: 8000, weight, health: 'HEALTHY' }],
});

function setUp(): { publisher: Publisher; store: SnapshotStore; seen: Snapshot[] } {
  const store = new SnapshotStore();
  const seen: Snapshot[] = [];
  store.subscribe((snapshot) => seen.push(snapshot));
  return { publisher: new Publisher(store, encoder), store, seen };
}

test('a group without an assignment is held', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a'), group('b')], []);
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
  publisher.configure([group('a')], []);
  const first = publisher.publish(assignment('a', 1));
  const snapshots = seen.length;
  assert.deepEqual(publisher.publish(assignment('a', 1)), { version: first.version, changed: false });
  assert.equal(seen.length, snapshots);
  const other = publisher.publish(assignment('a', 2));
  assert.equal(other.changed, true);
  assert.notEqual(other.version, first.version);

  const replica = setUp();
  replica.publisher.configure([group('a')], []);
  assert.equal(replica.publisher.publish(assignment('a', 1)).version, first.version);
});

test('a snapshot does not change after it was stored', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a')], []);
  publisher.publish(assignment('a', 1));
  const before = store.current;
  const version = before?.resources.get(EDS)?.get('a')?.version;
  publisher.publish(assignment('a', 2));
  publisher.configure([], []);
  assert.equal(before?.resources.get(EDS)?.get('a')?.version, version);
  assert.equal(before?.assignments.get('a')?.endpoints[0]?.weight, 1);
});

test('a group that goes is held, and answered again when it is back', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a'), group('b')], []);
  publisher.publish(assignment('a', 1));
  publisher.publish(assignment('b', 1));
  assert.deepEqual(publisher.configure([group('b')], []), ['a']);
  assert.deepEqual([...(store.current?.held.get(EDS) ?? [])], ['a']);
  assert.equal(publisher.complete, true);
  publisher.configure([group('a'), group('b')], []);
  assert.equal(publisher.complete, false);
  publisher.publish(assignment('a', 3));
  assert.equal(store.current?.held.get(EDS)?.size, 0);
});

test('listeners are published as the configuration has them; without any their types are not served', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a')], [listener('one', 'a'), listener('two', 'a')]);
  assert.deepEqual([...(store.current?.resources.get(LDS)?.keys() ?? [])], ['one', 'two']);
  publisher.configure([group('a')], [listener('two', 'a')]);
  assert.deepEqual([...(store.current?.resources.get(LDS)?.keys() ?? [])], ['two']);
  publisher.configure([group('a')], []);
  assert.equal(store.current?.resources.has(LDS), false);
});

test('an assignment that breaks a rule is refused, and what was published stands', () => {
  const { publisher, store } = setUp();
  publisher.configure([group('a')], []);
  const { version } = publisher.publish(assignment('a', 1));
  assert.throws(() => publisher.publish(assignment('a', 0)), {
    name: 'PlimsollError',
    code: 'internal',
    message:
      'the assignment of server group a is not published: 10.0.3.11|8000: the weight 0 is not an integer of at least 1',
  });
  assert.equal(store.current?.resources.get(EDS)?.get('a')?.version, version);
});

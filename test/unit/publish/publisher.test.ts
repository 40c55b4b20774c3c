import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Assignment, Listener, ServerGroup } from '../../../src/core/model.ts';
import { type Encoder, Publisher } from '../../../src/publish/publisher.ts';
import { type Snapshot, SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const EDS = 'type/Endpoints';
const CDS = 'type/Cluster';
const LDS = 'type/Listener';
const RDS = 'type/Route';

const encoder: Encoder = {
  endpointType: EDS,
  endpoints: (assignment) => ({
    typeUrl: EDS,
    name: assignment.serverGroup,
    bytes: Buffer.from(JSON.stringify(assignment)),
  }),
  cluster: (of) => ({ typeUrl: CDS, name: of.name, bytes: Buffer.from(of.name) }),
  listener: ({ name }, of) => ({ typeUrl: LDS, name, bytes: Buffer.from(`${name} of ${of.name}`) }),
  route: ({ name }, of) => ({ typeUrl: RDS, name, bytes: Buffer.from(`${name} to ${of.name}`) }),
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

function setUp() {
  const store = new SnapshotStore();
  const seen: Snapshot[] = [];
  store.subscribe((snapshot) => seen.push(snapshot));
  const clock = new FakeClock();
  return { publisher: new Publisher({ store, encoder, clock }), store, seen, clock };
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

describe('make before break', () => {
  const names = (store: SnapshotStore, type: string): readonly string[] => [
    ...(store.current?.resources.get(type)?.keys() ?? []),
  ];
  const routeOf = (store: SnapshotStore, name: string): string =>
    Buffer.from(store.current?.resources.get(RDS)?.get(name)?.bytes ?? []).toString();

  test('a listener moves to a new group only when that one has endpoints', () => {
    const { publisher, store } = setUp();
    publisher.configure([group('old')], [listener('one', 'old')]);
    publisher.publish(assignment('old', 1));
    publisher.configure([group('new')], [listener('one', 'new')]);
    assert.deepEqual(new Set(names(store, CDS)), new Set(['old', 'new']));
    assert.equal(routeOf(store, 'one'), 'one to old');
    assert.deepEqual(names(store, EDS), ['old'], 'a sidecar that starts meanwhile gets the old endpoints');
    publisher.publish(assignment('new', 1));
    assert.equal(routeOf(store, 'one'), 'one to new');
    assert.deepEqual(new Set(names(store, CDS)), new Set(['old', 'new']));
  });

  test('a cluster that no listener needs any more goes after 15 minutes, its endpoints with it', async () => {
    const { publisher, store, clock } = setUp();
    publisher.configure([group('a'), group('b')], [listener('one', 'a'), listener('two', 'b')]);
    publisher.publish(assignment('a', 1));
    publisher.publish(assignment('b', 1));
    publisher.configure([group('a')], [listener('one', 'a')]);
    assert.deepEqual(names(store, LDS), ['one']);
    await clock.advance(14 * 60_000);
    publisher.publish(assignment('a', 2));
    assert.deepEqual(
      [names(store, CDS), names(store, EDS)],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    );
    await clock.advance(60_000);
    publisher.publish(assignment('a', 3));
    assert.deepEqual([names(store, CDS), names(store, EDS)], [['a'], ['a']]);
    assert.deepEqual([...(store.current?.held.get(EDS) ?? [])], ['b']);
  });

  test('a cluster that is needed again stays', async () => {
    const { publisher, store, clock } = setUp();
    const both = [group('a'), group('b')];
    publisher.configure(both, [listener('one', 'a')]);
    publisher.publish(assignment('a', 1));
    publisher.publish(assignment('b', 1));
    publisher.configure(both, [listener('one', 'b')]);
    await clock.advance(10 * 60_000);
    publisher.configure(both, [listener('one', 'a')]);
    await clock.advance(14 * 60_000);
    publisher.publish(assignment('a', 2));
    assert.deepEqual(new Set(names(store, CDS)), new Set(['a', 'b']));
    await clock.advance(2 * 60_000);
    publisher.publish(assignment('a', 3));
    assert.deepEqual(names(store, CDS), ['a']);
  });
});

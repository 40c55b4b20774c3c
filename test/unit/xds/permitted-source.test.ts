import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Snapshot, SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { PermittedSource } from '../../../src/xds/permitted-source.ts';
import { PermittedSources } from '../../../src/xds/permitted-sources.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { snapshot } from '../../support/snapshots.ts';

const ONE_OF_EACH = {
  cluster: { a: '1', b: '1' },
  endpoint: { a: '1', b: '1' },
  listener: { a: '1', b: '1' },
};

function names(of: Snapshot | undefined, kind: keyof typeof TYPE_URLS): readonly string[] {
  return [...(of?.resources.get(TYPE_URLS[kind])?.keys() ?? [])];
}

test('only what belongs to the allowed groups is there, of every type', () => {
  const store = new SnapshotStore();
  const source = new PermittedSource(store, new Set(['a', 'unknown']));
  assert.deepEqual(names(source.current, 'cluster'), []);
  store.set(snapshot(ONE_OF_EACH, ['a-held', 'a']));
  for (const kind of ['cluster', 'endpoint', 'listener'] as const) {
    assert.deepEqual(names(source.current, kind), ['a'], kind);
  }
  assert.deepEqual(source.current?.held.get(TYPE_URLS.endpoint), new Set(['a']));
});

test('what belongs to a group goes by its group and not by its name', () => {
  const store = new SnapshotStore();
  const whole = snapshot({ listener: { inference: '1' } });
  const [listener] = whole.resources.get(TYPE_URLS.listener)?.values() ?? [];
  assert.ok(listener !== undefined);
  const owned = new Map([['inference', { ...listener, serverGroup: 'a' }]]);
  store.set({ ...whole, resources: new Map([[TYPE_URLS.listener, owned]]) });
  assert.deepEqual(names(new PermittedSource(store, new Set(['a'])).current, 'listener'), ['inference']);
  assert.deepEqual(names(new PermittedSource(store, new Set(['inference'])).current, 'listener'), []);
});

test('assignments of other groups are not there either', () => {
  const store = new SnapshotStore();
  const assignments = new Map(
    ['a', 'b'].map((serverGroup) => [serverGroup, { serverGroup, endpoints: [], dropShare: 0 }]),
  );
  store.set({ ...snapshot({}), assignments });
  assert.deepEqual(
    [...(new PermittedSource(store, new Set(['b'])).current?.assignments.keys() ?? [])],
    ['b'],
  );
});

test('subscribers are told of each snapshot, and get what current gives', () => {
  const store = new SnapshotStore();
  const source = new PermittedSource(store, new Set(['a']));
  const told: Snapshot[] = [];
  const unsubscribe = source.subscribe((each) => told.push(each));
  store.set(snapshot(ONE_OF_EACH));
  assert.equal(told[0], source.current);
  unsubscribe();
  store.set(snapshot({}));
  assert.equal(told.length, 1);
});

test('a part of which nothing has changed is the same object', () => {
  const store = new SnapshotStore();
  const source = new PermittedSource(store, new Set(['a']));
  const first = snapshot(ONE_OF_EACH);
  store.set(first);
  const before = source.current;
  const endpoints = snapshot({ endpoint: { a: '2' } }).resources.get(TYPE_URLS.endpoint) ?? new Map();
  store.set({ ...first, resources: new Map([...first.resources, [TYPE_URLS.endpoint, endpoints]]) });
  const after = source.current;
  assert.notEqual(after, before);
  assert.equal(after?.resources.get(TYPE_URLS.cluster), before?.resources.get(TYPE_URLS.cluster));
  assert.notEqual(after?.resources.get(TYPE_URLS.endpoint), before?.resources.get(TYPE_URLS.endpoint));
});

test('clients that may see the same share a source; who may see all has the whole one', () => {
  const store = new SnapshotStore();
  const sources = new PermittedSources([
    { identity: 'one', serverGroups: ['a', 'b'] },
    { identity: 'two', serverGroups: ['b', 'a'] },
    { identity: 'three', serverGroups: ['a'] },
    { identity: 'four', serverGroups: ['b'] },
    { identity: 'root', serverGroups: 'all' },
  ]);
  const of = (...who: readonly string[]) =>
    sources.of(
      store,
      who.map((name) => ({ kind: 'dns' as const, name })),
    );
  assert.ok(of('one') instanceof PermittedSource);
  assert.equal(of('two'), of('one'));
  assert.equal(of('four', 'three'), of('one'));
  assert.notEqual(of('three'), of('one'));
  assert.equal(of('root'), store);
  assert.equal(of('nobody'), undefined);
  const other = new SnapshotStore();
  assert.notEqual(sources.of(other, [{ kind: 'dns', name: 'one' }]), of('one'));
});

test('what a zone gets instead is hidden and kept by the same rules', () => {
  const store = new SnapshotStore();
  const source = new PermittedSource(store, new Set(['a']));
  const whole = snapshot(ONE_OF_EACH);
  const endpoints = whole.resources.get(TYPE_URLS.endpoint) ?? new Map<string, never>();
  const zone = new Map([[TYPE_URLS.endpoint, endpoints]]);
  store.set({ ...whole, zones: new Map([['z', zone]]) });
  const seen = source.current?.zones?.get('z')?.get(TYPE_URLS.endpoint);
  assert.deepEqual([...(seen?.keys() ?? [])], ['a']);
  store.set({ ...whole, zones: new Map([['z', new Map(zone)]]) });
  assert.equal(source.current?.zones?.get('z')?.get(TYPE_URLS.endpoint), seen);
  store.set(whole);
  assert.equal(source.current?.zones, undefined);
});

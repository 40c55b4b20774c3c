import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Feed } from '../../../src/xds/feed.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { resource, snapshot } from '../../support/snapshots.ts';

test('there is no view before the first snapshot, nor of a type that is not published', () => {
  const feed = new Feed();
  assert.equal(feed.view(TYPE_URLS.cluster), undefined);
  feed.accept(snapshot({}, ['a'], ['route']));
  assert.equal(feed.view(TYPE_URLS.route), undefined);
  assert.equal(feed.view(TYPE_URLS.cluster)?.resources.size, 0);
  assert.deepEqual([...(feed.view(TYPE_URLS.endpoint)?.held ?? [])], ['a']);
});

test('a view stays the same object while its type does not change', () => {
  const feed = new Feed();
  const first = snapshot({ cluster: { a: '1' }, endpoint: { a: '1' } });
  feed.accept(first);
  const clusters = feed.view(TYPE_URLS.cluster);
  const endpoints = feed.view(TYPE_URLS.endpoint);
  const changed = snapshot({ endpoint: { a: '2' } }, [], ['cluster', 'listener', 'route']).resources;
  feed.accept({ ...first, resources: new Map([...first.resources, ...changed]) });
  assert.equal(feed.view(TYPE_URLS.cluster), clusters);
  assert.notEqual(feed.view(TYPE_URLS.endpoint), endpoints);
  assert.equal(feed.view(TYPE_URLS.endpoint)?.resources.get('a')?.version, '2');
});

test('responses are kept as long as their snapshot', () => {
  const feed = new Feed();
  const update = { resources: [resource('endpoint', 'a', '1')], removed: [], changed: [] };
  const respond = () => feed.response('sotw', TYPE_URLS.endpoint, update, 0);
  feed.accept(snapshot({ endpoint: { a: '1' } }));
  const response = respond();
  assert.equal(respond(), response);
  feed.accept(snapshot({ endpoint: { a: '1' } }));
  assert.notEqual(respond(), response);
});

test('clients of a zone see what their zone has in place of what everybody gets, and the rest as everybody', () => {
  const feed = new Feed();
  const first = snapshot({ cluster: { g: '1' }, endpoint: { g: '1', h: '1' } });
  const own = new Map([[TYPE_URLS.endpoint, new Map([['g', resource('endpoint', 'g', 'a1')]])]]);
  feed.accept({ ...first, zones: new Map([['a', own]]) });
  const versions = (zone: string) =>
    Array.from(feed.view(TYPE_URLS.endpoint, zone)?.resources.values() ?? [], ({ version }) => version);
  assert.deepEqual(versions('a'), ['a1', '1']);
  assert.deepEqual(versions('b'), ['1', '1']);
  assert.deepEqual(versions(''), ['1', '1']);
  assert.equal(feed.view(TYPE_URLS.endpoint, 'b'), feed.view(TYPE_URLS.endpoint));
  assert.equal(feed.view(TYPE_URLS.cluster, 'a'), feed.view(TYPE_URLS.cluster));
  // the same object as long as nothing of it has changed
  const view = feed.view(TYPE_URLS.endpoint, 'a');
  feed.accept({ ...first, zones: new Map([['a', own]]) });
  assert.equal(feed.view(TYPE_URLS.endpoint, 'a'), view);
  feed.accept(first);
  assert.deepEqual(versions('a'), ['1', '1']);
});

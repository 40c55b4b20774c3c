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

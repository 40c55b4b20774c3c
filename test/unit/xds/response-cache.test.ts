import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREFIX_BYTES } from '../../../src/xds/grpc-message.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { type EncodedResponse, ResponseCache } from '../../../src/xds/response-cache.ts';
import type { Update } from '../../../src/xds/subscription.ts';
import { readSotw } from '../../support/discovery-response.ts';
import { resource } from '../../support/snapshots.ts';

const URL = TYPE_URLS.endpoint;

/** `a@1` is a resource, `-a` a removed name. */
function update(...items: readonly string[]): Update {
  const resources = items
    .filter((item) => !item.startsWith('-'))
    .map((item) => {
      const [name = '', version = ''] = item.split('@');
      return resource('endpoint', name, version);
    });
  const removed = items.filter((item) => item.startsWith('-')).map((item) => item.slice(1));
  return { resources, removed, changed: [] };
}

function versionIn({ framed }: EncodedResponse): string {
  return readSotw(framed.subarray(PREFIX_BYTES)).version;
}

test('streams that are told the same share one response', () => {
  const cache = new ResponseCache();
  const one = cache.response('sotw', URL, update('a@1', 'b@1'), 0);
  assert.equal(cache.response('sotw', URL, update('b@1', 'a@1'), 0), one);
  assert.deepEqual(
    [...one.versions],
    [
      ['a', '1'],
      ['b', '1'],
    ],
  );
});

test('what differs in anything is another response', () => {
  const cache = new ResponseCache();
  const nonces = [
    cache.response('sotw', URL, update('a@1'), 0),
    cache.response('delta', URL, update('a@1'), 0),
    cache.response('sotw', TYPE_URLS.cluster, update('a@1'), 0),
    cache.response('sotw', URL, update('a@2'), 0),
    cache.response('sotw', URL, update('a@1', 'b@1'), 0),
    cache.response('delta', URL, update('a@1', '-b'), 0),
    cache.response('delta', URL, update('-b'), 0),
    cache.response('delta', URL, update(), 0),
    cache.response('delta', URL, update('-b', '-c'), 0),
    // Names that look like the key's own punctuation.
    cache.response('delta', URL, update('-b-1:c'), 0),
    cache.response('delta', URL, update('-b1:c'), 0),
  ].map(({ nonce }) => nonce);
  assert.deepEqual(nonces, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('a stream that is told the same twice gets a new nonce, which others share', () => {
  const cache = new ResponseCache();
  const first = cache.response('sotw', URL, update('a@1'), 0);
  const second = cache.response('sotw', URL, update('a@1'), first.nonce);
  assert.ok(second.nonce > first.nonce);
  assert.equal(cache.response('sotw', URL, update('a@1'), 0), second);
});

test('nonces go on after the responses have been forgotten', () => {
  const cache = new ResponseCache();
  const before = cache.response('sotw', URL, update('a@1'), 0);
  cache.clear();
  assert.ok(cache.response('sotw', URL, update('a@1'), 0).nonce > before.nonce);
});

test("the version is the resource's own, or one that depends on the content alone", () => {
  const one = new ResponseCache();
  const other = new ResponseCache();
  other.response('sotw', URL, update('x@1'), 0);
  assert.equal(versionIn(one.response('sotw', URL, update('a@17'), 0)), '17');
  const versions = [one, other].map((cache) =>
    versionIn(cache.response('sotw', URL, update('a@1', 'b@2'), 0)),
  );
  assert.match(versions[0] ?? '', /^[0-9a-f]{20}$/);
  assert.equal(versions[0], versions[1]);
  assert.notEqual(versionIn(one.response('sotw', URL, update('a@2', 'b@1'), 0)), versions[0]);
  assert.match(versionIn(one.response('sotw', URL, update(), 0)), /^[0-9a-f]{20}$/, 'of nothing');
});

test('the memory is bounded', () => {
  const cache = new ResponseCache();
  const bytes = Buffer.alloc(5 * 1024 * 1024);
  const tell = (name: string) => {
    const resources = [{ ...resource('endpoint', name, '1'), bytes }];
    return cache.response('delta', URL, { resources, removed: [], changed: [] }, 0);
  };
  const [a, b, , d] = ['a', 'b', 'c', 'd'].map(tell);
  tell('e');
  assert.equal(tell('d'), d, 'still there');
  assert.notEqual(tell('a'), a, 'made room');
  assert.notEqual(tell('b'), b, 'made room');
});

test('what tells of removed names is shared as long as nothing else is told, and not kept', () => {
  const cache = new ResponseCache();
  for (const items of [['-x'], ['a@1', '-x'], ['-x', '-y']]) {
    const told = update(...items);
    const one = cache.response('delta', URL, told, 0);
    assert.equal(cache.response('delta', URL, told, 0), one, 'one change, told to many');
    const kept = cache.response('delta', URL, update('a@1'), 0);
    assert.ok(cache.response('delta', URL, told, 0).nonce > Math.max(one.nonce, kept.nonce));
    assert.equal(cache.response('delta', URL, update('a@1'), 0), kept);
  }
});

test('invented names, however many, crowd out nothing', () => {
  const cache = new ResponseCache();
  const kept = cache.response('delta', URL, update('a@1'), 0);
  const long = 'x'.repeat(1024 * 1024);
  for (let i = 0; i < 20; i++) cache.response('delta', URL, update(`-${i}${long}`), 0);
  assert.equal(cache.response('delta', URL, update('a@1'), 0), kept);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { ENDPOINT_TYPE } from '../../../src/xds/served-types.ts';
import { DISCOVERY, encode } from '../../support/discovery-proto.ts';
import { EVERYTHING, StreamBench, served } from '../../support/stream-bench.ts';

test('nothing is answered before the first snapshot, then all that was asked', () => {
  const bench = new StreamBench();
  bench.request('listener');
  bench.request('endpoint', { resourceNamesSubscribe: ['g'] });
  bench.request('cluster');
  assert.deepEqual(bench.flush(), []);
  bench.publish(EVERYTHING);
  assert.deepEqual(bench.flush(), ['cluster g@1', 'endpoint g@1', 'listener l@1']);
});

test('a change of everything goes out in the order CDS, EDS, LDS, RDS, one write at a time', () => {
  const bench = served();
  bench.publish({ cluster: { g: '2' }, endpoint: { g: '2' }, listener: { l: '2' }, route: { r: '2' } });
  assert.equal(bench.written.length, 1);
  assert.deepEqual(bench.flush(), ['cluster g@2', 'endpoint g@2', 'listener l@2', 'route r@2']);
});

test('while a write is in flight nothing is queued: the newest state follows it', () => {
  const bench = served();
  for (const version of ['2', '3', '4'])
    bench.publish({ ...EVERYTHING, endpoint: { g: version }, route: { r: version } });
  assert.deepEqual(bench.flush(), ['endpoint g@2', 'route r@4']);
});

test('requests that come while a write is in flight share one answer', () => {
  const bench = new StreamBench([ENDPOINT_TYPE]);
  bench.publish(EVERYTHING);
  for (let i = 0; i < 4; i++) bench.request('endpoint', { resourceNamesSubscribe: ['g'] });
  assert.deepEqual(bench.flush(), ['endpoint g@1', 'endpoint g@1']);
});

test('one type without acknowledgement does not hold up the others', () => {
  const bench = served();
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  bench.flush();
  bench.publish({ ...EVERYTHING, endpoint: { g: '3' }, route: { r: '3' } });
  assert.deepEqual(bench.flush(), ['endpoint g@2', 'route r@3']);
});

test('after a changed cluster its endpoints go out, unchanged and without any acknowledgement', () => {
  const bench = served();
  bench.publish({ ...EVERYTHING, cluster: { g: '2', other: '1' } });
  assert.deepEqual(bench.flush(), ['cluster g@2 other@1', 'endpoint g@1']);
  bench.request('cluster', { responseNonce: bench.written[0]?.nonce });
  bench.publish({ ...EVERYTHING, cluster: { g: '3', other: '1' } });
  assert.deepEqual(bench.flush(2), ['cluster g@3', 'endpoint g@1'], 'the endpoints are still unacknowledged');
});

test('after a cluster that did not change they do not', () => {
  const bench = served();
  const endpoint = { g: '1', other: '1' };
  bench.publish({ ...EVERYTHING, cluster: { g: '1', other: '1' }, endpoint });
  assert.deepEqual(bench.flush(), ['cluster other@1']);
});

test('a changed cluster without endpoints of its own name may wait for any: all go out', () => {
  const bench = served();
  bench.publish({ ...EVERYTHING, cluster: { g: '1', 'of the same endpoints': '1' } });
  assert.deepEqual(bench.flush(), ['cluster of the same endpoints@1', 'endpoint g@1']);
});

test('a reconnected client that asks for clusters first is spared what it has', () => {
  const bench = new StreamBench();
  bench.publish(EVERYTHING);
  bench.request('cluster', { initialResourceVersions: { g: '1' } });
  bench.request('endpoint', { resourceNamesSubscribe: ['g'], initialResourceVersions: { g: '1' } });
  assert.deepEqual(bench.flush(), ['cluster', 'endpoint']);
  bench.request('endpoint', { responseNonce: bench.written[1]?.nonce });
  assert.deepEqual(
    bench.acknowledged.map(({ typeUrl, resources }) => [typeUrl, ...resources]),
    [[TYPE_URLS.endpoint, ['g', '1']]],
    'which it has by its own word',
  );
});

test('a reconnected client gets the endpoints of a cluster that changed meanwhile', () => {
  const bench = new StreamBench();
  bench.publish(EVERYTHING);
  bench.request('cluster', { initialResourceVersions: { g: '0' } });
  bench.request('endpoint', { resourceNamesSubscribe: ['g'], initialResourceVersions: { g: '1' } });
  assert.deepEqual(bench.flush(), ['cluster g@1', 'endpoint g@1']);
});

test('a reconnected client that asks for endpoints without clusters is warming: it gets them', () => {
  const bench = new StreamBench();
  bench.publish(EVERYTHING);
  bench.request('endpoint', { resourceNamesSubscribe: ['g'], initialResourceVersions: { g: '1' } });
  assert.deepEqual(bench.flush(), ['endpoint g@1']);
  const single = new StreamBench([ENDPOINT_TYPE]);
  single.publish(EVERYTHING);
  single.request('endpoint', { resourceNamesSubscribe: ['g'], initialResourceVersions: { g: '1' } });
  assert.deepEqual(single.flush(), ['endpoint'], 'on a stream of its own there are no clusters to ask for');
});

test('an acknowledgement is told with node, versions and time', () => {
  const bench = new StreamBench();
  bench.publish(EVERYTHING);
  bench.request('endpoint', { node: { id: 'side\ncar' }, resourceNamesSubscribe: ['g'] });
  bench.flush();
  bench.request('endpoint', { node: { id: 'side\ncar' }, responseNonce: bench.written[0]?.nonce });
  assert.deepEqual(bench.acknowledged, [
    {
      stream: bench.stream,
      typeUrl: TYPE_URLS.endpoint,
      node: 'side\\u{a}car',
      zone: '',
      resources: new Map([['g', '1']]),
      subscribedAtMs: 1000,
      atMs: 1000,
    },
  ]);
  bench.request('endpoint', { responseNonce: bench.written[0]?.nonce });
  assert.equal(bench.acknowledged.length, 1);
});

test('a request of another node ends the stream, with both names', () => {
  const bench = new StreamBench();
  bench.publish(EVERYTHING);
  bench.request('endpoint', { node: { id: 'sidecar' }, resourceNamesSubscribe: ['g'] });
  bench.flush();
  for (const node of [undefined, { id: 'sidecar' }, { cluster: 'c' }]) bench.request('cluster', { node });
  assert.equal(bench.ended, undefined);
  bench.request('endpoint', { node: { id: 'other\n' }, responseNonce: bench.written[0]?.nonce });
  assert.deepEqual(bench.ended, [
    status.INVALID_ARGUMENT,
    'the node of this stream is sidecar, not other\\u{a}',
  ]);
  assert.deepEqual(bench.acknowledged, []);
});

test('a stream whose first request has no node stays one without', () => {
  const bench = new StreamBench();
  bench.request('endpoint');
  bench.request('endpoint', { node: { id: 'sidecar' } });
  assert.equal(bench.ended?.[0], status.INVALID_ARGUMENT);
});

test('a rejection is told and logged, cut and escaped', () => {
  const bench = served();
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  bench.flush();
  const message = `bad\u001b[31m ${'x'.repeat(5000)}`;
  bench.request('endpoint', { responseNonce: bench.written[0]?.nonce, errorDetail: { code: 13, message } });
  const [rejection] = bench.rejected;
  assert.equal(rejection?.node, 'n');
  assert.match(rejection?.message ?? '', /^bad\\u\{1b\}\[31m x+…$/);
  assert.ok((rejection?.message.length ?? 0) < 520);
  const line = bench.log.find((each) => each['reason'] === rejection?.message);
  assert.equal(line?.['names'], 'g');
  assert.equal(line?.['cluster'], 'c');
  assert.equal(line?.['level'], 40);
  assert.deepEqual(bench.flush(1), []);
});

test('what was sent is counted in bytes', () => {
  const bench = served();
  const before = bench.sentBytes;
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  assert.ok(bench.sentBytes - before > TYPE_URLS.endpoint.length * 2);
});

test('a type that is not served is told and does no harm', () => {
  const bench = served();
  bench.stream.receive(encode(DISCOVERY.DeltaDiscoveryRequest, { typeUrl: 'type\u0000x' }));
  assert.deepEqual(bench.unknown, ['type\\u{0}x']);
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  assert.deepEqual(bench.flush(), ['endpoint g@2']);
});

test('a request without a type ends an aggregated stream and means the one type of another', () => {
  const bench = new StreamBench();
  bench.stream.receive(encode(DISCOVERY.DeltaDiscoveryRequest, { resourceNamesSubscribe: ['g'] }));
  assert.equal(bench.ended?.[0], status.INVALID_ARGUMENT);
  const single = new StreamBench([ENDPOINT_TYPE]);
  single.publish(EVERYTHING);
  single.stream.receive(encode(DISCOVERY.DeltaDiscoveryRequest, { resourceNamesSubscribe: ['g'] }));
  assert.deepEqual(single.flush(), ['endpoint g@1']);
});

test('another type ends a single-type stream', () => {
  const bench = new StreamBench([ENDPOINT_TYPE]);
  bench.request('cluster');
  assert.deepEqual(bench.ended, [
    status.INVALID_ARGUMENT,
    `this stream serves ${TYPE_URLS.endpoint}, not ${TYPE_URLS.cluster}`,
  ]);
});

test('a malformed request ends the stream, and nothing is written or read after it', () => {
  const bench = served();
  bench.stream.receive(Buffer.from([0xff]));
  assert.deepEqual(bench.ended, [
    status.INVALID_ARGUMENT,
    'the request is malformed: it ends within a number',
  ]);
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  bench.request('endpoint', { resourceNamesSubscribe: ['other'] });
  assert.deepEqual(bench.flush(), []);
});

test('a client that is gone is written to no more', () => {
  const bench = served();
  bench.stream.close();
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  assert.deepEqual(bench.flush(), []);
});

test('names that do not exist are told, held ones and repeated acknowledgements are not', () => {
  const bench = new StreamBench();
  bench.publish(EVERYTHING, ['held']);
  bench.request('endpoint', { node: { id: 'n' }, resourceNamesSubscribe: ['g', 'held', 'lama\n', '*', ''] });
  assert.deepEqual(bench.unknownNames, ['lama\n by n']);
  bench.acknowledgeAll();
  assert.equal(bench.unknownNames.length, 1);
});

test('nothing is said of a type that is not published: an empty answer would delete what the client has', () => {
  const bench = new StreamBench();
  bench.publish({}, [], ['cluster']);
  bench.request('cluster', { node: { id: 'n' } });
  assert.deepEqual(bench.flush(), []);
  bench.publish(EVERYTHING);
  assert.deepEqual(bench.flush(), ['cluster g@1']);
  bench.acknowledgeAll();
  bench.publish({}, [], ['cluster']);
  assert.deepEqual(bench.flush(1), []);
});

test('what is asked for no more is told once, and no acknowledgement of it that comes afterwards', () => {
  const bench = new StreamBench([ENDPOINT_TYPE]);
  bench.publish({ endpoint: { g: '1', h: '1' } });
  bench.request('endpoint', { resourceNamesSubscribe: ['g', 'h'] });
  bench.flush();
  bench.request('endpoint', { resourceNamesUnsubscribe: ['g'] });
  bench.request('endpoint', { responseNonce: bench.written[0]?.nonce });
  assert.deepEqual(bench.unsubscribed, [{ typeUrl: ENDPOINT_TYPE.url, names: ['g'] }]);
  assert.deepEqual(
    bench.acknowledged.map(({ resources }) => [...resources.keys()]),
    [['h']],
  );
});

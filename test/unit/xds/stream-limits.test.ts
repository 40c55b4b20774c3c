import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { SERVED_TYPES } from '../../../src/xds/served-types.ts';
import { EVERYTHING, StreamBench, served } from '../../support/stream-bench.ts';

const EDS = TYPE_URLS.endpoint;

function invented(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `invented ${i}`);
}

test('a request beyond MessageBytes ends the stream', () => {
  const bench = new StreamBench(SERVED_TYPES, { messageBytes: 1000 });
  bench.stream.receive(Buffer.alloc(1001));
  assert.deepEqual(bench.ended, [
    status.RESOURCE_EXHAUSTED,
    'Xds.Limits.MessageBytes: a request of 1001 bytes; at most 1000',
  ]);
  assert.deepEqual(bench.refused, ['MessageBytes']);
});

test('more requests than RequestsPerSecond end the stream, as many in a second do not', async () => {
  const bench = new StreamBench(SERVED_TYPES, { requestsPerSecond: 10 });
  for (let second = 0; second < 3; second++) {
    for (let i = 0; i < 10; i++) bench.request('endpoint', { resourceNamesSubscribe: ['g'] });
    await bench.clock.advance(1000);
  }
  assert.equal(bench.ended, undefined);
  for (let i = 0; i < 11; i++) bench.request('endpoint', { resourceNamesSubscribe: ['g'] });
  assert.deepEqual(bench.ended, [
    status.RESOURCE_EXHAUSTED,
    'Xds.Limits.RequestsPerSecond: more than 10 requests in a second',
  ]);
  assert.deepEqual(bench.refused, ['RequestsPerSecond']);
});

for (const [what, fields] of [
  ['a name', { resourceNamesSubscribe: ['g', 'x'.repeat(513)] }],
  ['a name that is left', { resourceNamesUnsubscribe: ['x'.repeat(513)] }],
  ['a name that the client has', { initialResourceVersions: { ['x'.repeat(513)]: '1' } }],
  ['a version', { initialResourceVersions: { g: 'x'.repeat(513) } }],
  ['the id of the node', { node: { id: 'x'.repeat(513) } }],
  ['the cluster of the node', { node: { cluster: 'x'.repeat(513) } }],
] as const) {
  test(`${what} beyond NameLength ends the stream`, () => {
    const bench = new StreamBench();
    bench.publish(EVERYTHING);
    bench.request('endpoint', fields);
    assert.deepEqual(bench.ended, [
      status.INVALID_ARGUMENT,
      'Xds.Limits.NameLength: a name, node or version of 513 characters; at most 512',
    ]);
    assert.deepEqual(bench.refused, ['NameLength']);
  });
}

test('names as long as NameLength are taken', () => {
  const name = 'x'.repeat(512);
  const bench = new StreamBench();
  bench.publish({ endpoint: { [name]: '1' } });
  bench.request('endpoint', { node: { id: name, cluster: name }, resourceNamesSubscribe: [name] });
  assert.deepEqual(bench.flush(), [`endpoint ${name}@1`]);
});

test('names that do not exist are counted, in one request and over several', () => {
  for (const requests of [
    [{ resourceNamesSubscribe: invented(11) }],
    [
      { resourceNamesSubscribe: invented(6) },
      { resourceNamesSubscribe: invented(20).slice(16) },
      { resourceNamesSubscribe: ['another'] },
    ],
  ]) {
    const bench = new StreamBench(SERVED_TYPES, { names: 10 });
    bench.publish(EVERYTHING);
    for (const request of requests) {
      assert.equal(bench.ended, undefined);
      bench.request('endpoint', request);
    }
    assert.deepEqual(bench.ended, [
      status.RESOURCE_EXHAUSTED,
      'Xds.Limits.Names: 11 names that do not exist; at most 10',
    ]);
    assert.deepEqual(bench.refused, ['Names']);
  }
});

test('names that exist are not counted, so that a larger fleet turns no one away', () => {
  const bench = new StreamBench(SERVED_TYPES, { names: 10 });
  const fleet = Array.from({ length: 100 }, (_, i) => `g${i}`);
  bench.publish({ endpoint: Object.fromEntries(fleet.map((name) => [name, '1'])) }, ['held']);
  bench.request('endpoint', { resourceNamesSubscribe: [...fleet, 'held', ...invented(10)] });
  assert.equal(bench.ended, undefined);
  bench.acknowledgeAll();
  assert.equal(bench.acknowledged.length, 1);
  bench.request('endpoint', { resourceNamesSubscribe: ['one more'] });
  assert.equal(bench.ended?.[0], status.RESOURCE_EXHAUSTED);
});

test('a list that repeats itself is refused before it is looked through', () => {
  const bench = new StreamBench(SERVED_TYPES, { names: 10 });
  bench.publish(EVERYTHING);
  bench.request('endpoint', { resourceNamesSubscribe: Array.from({ length: 12 }, () => 'g') });
  assert.deepEqual(bench.ended, [
    status.RESOURCE_EXHAUSTED,
    'Xds.Limits.Names: 12 names in one request; at most 10 beyond the 1 that exist',
  ]);
  assert.deepEqual(bench.refused, ['Names']);
});

test('whatever a client has of before, it is not turned away: the first are left to it, the others are removed', () => {
  const had = Object.fromEntries(['g', ...invented(25)].map((name) => [name, '1']));
  for (const [type, left] of [
    ['cluster', 10],
    ['listener', 0],
  ] as const) {
    const bench = new StreamBench(SERVED_TYPES, { names: 10 });
    bench.publish({ ...EVERYTHING, listener: { g: '1' } });
    bench.request(type, { initialResourceVersions: had });
    bench.acknowledgeAll();
    assert.equal(bench.ended, undefined);
    assert.deepEqual(bench.removed.toSorted(), invented(25).slice(left).toSorted());
  }
});

test('a client that is back has and asks for the same names: they count once', () => {
  const fleet = Array.from({ length: 100 }, (_, i) => `g${i}`);
  const bench = new StreamBench(SERVED_TYPES, { names: 10 });
  bench.publish({ endpoint: Object.fromEntries(fleet.map((name) => [name, '1'])) });
  const had = Object.fromEntries(fleet.map((name) => [name, '1']));
  bench.request('endpoint', { resourceNamesSubscribe: fleet, initialResourceVersions: had });
  assert.equal(bench.ended, undefined);
});

test('names that are left make room', async () => {
  const bench = new StreamBench(SERVED_TYPES, { names: 10 });
  bench.publish(EVERYTHING);
  for (let round = 0; round < 20; round++) {
    const names = invented(200).slice(round * 10, round * 10 + 10);
    bench.request('endpoint', { resourceNamesSubscribe: names });
    bench.acknowledgeAll();
    bench.request('endpoint', { resourceNamesUnsubscribe: names });
    bench.written.length = 0;
    await bench.clock.advance(1000);
  }
  assert.equal(bench.ended, undefined);
});

test('a client that reads nothing loses its connection, told once for each look', async () => {
  const bench = served();
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  await bench.clock.advance(30_000);
  bench.stream.sweep();
  assert.equal(bench.aborted, 0);
  await bench.clock.advance(1);
  bench.stream.sweep();
  assert.equal(bench.aborted, 1);
  assert.equal(bench.written.length, 1);
  assert.deepEqual(bench.refused, ['ReadSeconds']);
});

test('a stream whose end is not read loses its connection too', async () => {
  const bench = served();
  bench.stream.end(status.UNAVAILABLE, 'enough');
  await bench.clock.advance(30_001);
  bench.stream.sweep();
  assert.equal(bench.aborted, 1);
});

test('a client that does not answer is sent the newest state after AckSeconds, and not before', async () => {
  const bench = served();
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  bench.flush();
  bench.publish({ ...EVERYTHING, endpoint: { g: '3' } });
  bench.publish({ ...EVERYTHING, endpoint: { g: '4' } });
  await bench.clock.advance(60_000);
  bench.stream.sweep();
  assert.deepEqual(bench.flush(), ['endpoint g@2']);
  await bench.clock.advance(1);
  bench.stream.sweep();
  assert.deepEqual(bench.flush(), ['endpoint g@2', 'endpoint g@4']);
  assert.equal(bench.aborted, 0);
  assert.equal(bench.ended, undefined);
  assert.deepEqual(bench.refused, ['AckSeconds']);
  const reason = `Xds.Limits.AckSeconds: no answer to ${EDS} for 60 s, it is no longer waited for`;
  assert.deepEqual(
    bench.log.map((line) => line['reason']),
    [reason],
  );
});

test('without anything newer it is told once and nothing is sent', async () => {
  const bench = served();
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  bench.flush();
  for (let i = 0; i < 10; i++) {
    await bench.clock.advance(60_001);
    bench.stream.sweep();
  }
  assert.deepEqual(bench.flush(), ['endpoint g@2']);
  assert.deepEqual(bench.refused, ['AckSeconds']);
});

test('a late answer counts, and a late rejection keeps the version from being sent again', async () => {
  const bench = served();
  bench.acknowledged.length = 0;
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  bench.flush();
  await bench.clock.advance(60_001);
  bench.stream.sweep();
  bench.request('endpoint', {
    responseNonce: bench.written[0]?.nonce,
    errorDetail: { code: 3, message: 'no' },
  });
  assert.equal(bench.rejected.length, 1);
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' }, route: { r: '2' } });
  assert.deepEqual(bench.flush(), ['endpoint g@2', 'route r@2']);
});

test('an answer in time starts the wait anew, and a client that owes nothing is left alone', async () => {
  const bench = served();
  await bench.clock.advance(1_000_000);
  bench.stream.sweep();
  for (let version = 2; version < 20; version++) {
    bench.publish({ ...EVERYTHING, endpoint: { g: `${version}` } });
    await bench.clock.advance(50_000);
    bench.acknowledgeAll();
    bench.written.length = 0;
    bench.stream.sweep();
  }
  assert.deepEqual(bench.refused, []);
});

test('rejections without end make one line at once and one every ten seconds', async () => {
  const bench = served();
  for (let version = 2; version < 90; version++) {
    bench.publish({ ...EVERYTHING, endpoint: { g: `${version}` } });
    bench.flush();
    const error = { code: 13, message: `reason ${version}` };
    bench.request('endpoint', { responseNonce: bench.written.at(-1)?.nonce, errorDetail: error });
  }
  assert.equal(bench.rejected.length, 88);
  await bench.clock.advance(10_000);
  assert.deepEqual(
    bench.log.map((line) => [line['reason'], line['times']]),
    [
      ['reason 2', undefined],
      ['reason 89', 87],
    ],
  );
});

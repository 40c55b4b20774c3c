import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { pino } from 'pino';
import { Feed } from '../../../src/xds/feed.ts';
import type { Acknowledgement, Rejection } from '../../../src/xds/observer.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { ENDPOINT_TYPE, SERVED_TYPES } from '../../../src/xds/served-types.ts';
import { READ_LIMIT_MS, XdsStream } from '../../../src/xds/stream.ts';
import { DELTA } from '../../../src/xds/variant.ts';
import { DISCOVERY, encode } from '../../support/discovery-proto.ts';
import { readDelta } from '../../support/discovery-response.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Contents, snapshot } from '../../support/snapshots.ts';

/** A delta stream whose other side is in the test's hands. */
class Bench {
  readonly written: { readonly type: string; readonly names: readonly string[]; readonly nonce: string }[] =
    [];
  readonly acknowledged: Acknowledgement[] = [];
  readonly rejected: Rejection[] = [];
  readonly unknown: string[] = [];
  readonly log: Record<string, unknown>[] = [];
  readonly clock = new FakeClock(1000);
  ended: readonly [status, string] | undefined;
  aborted = 0;
  readonly unknownNames: string[] = [];
  sentBytes = 0;
  readonly stream;
  readonly #feed = new Feed();
  #done: (() => void) | undefined;

  constructor(types = SERVED_TYPES) {
    this.stream = new XdsStream({
      kind: 'ads',
      variant: DELTA,
      types,
      context: {
        feed: this.#feed,
        clock: this.clock,
        log: pino(
          { base: null },
          { write: (line) => this.log.push(JSON.parse(line) as Record<string, unknown>) },
        ),
        observer: {
          streamOpened: () => undefined,
          streamClosed: () => undefined,
          sent: (_typeUrl, bytes) => {
            this.sentBytes += bytes;
          },
          acknowledged: (each) => this.acknowledged.push(each),
          rejected: (each) => this.rejected.push(each),
          unknownType: () => undefined,
          unknownName: () => undefined,
        },
        unknownType: (typeUrl) => this.unknown.push(typeUrl),
        unknownName: (_typeUrl, name, node) => this.unknownNames.push(`${name} by ${node}`),
      },
      transport: {
        write: (bytes, done) => {
          const { typeUrl, nonce, resources } = readDelta(bytes);
          const names = resources.map(({ name, version }) => `${name}@${version}`);
          const kind = Object.entries(TYPE_URLS).find(([, url]) => url === typeUrl)?.[0];
          this.written.push({ type: kind ?? '', names, nonce });
          assert.equal(this.#done, undefined, 'one write in flight');
          this.#done = done;
        },
        end: (code, details) => {
          this.ended = [code, details];
        },
        abort: () => {
          this.aborted++;
        },
      },
    });
  }

  publish(
    contents: Contents,
    held?: readonly string[],
    unpublished?: readonly (keyof typeof TYPE_URLS)[],
  ): void {
    this.#feed.accept(snapshot(contents, held, unpublished));
    this.stream.push();
  }

  request(type: keyof typeof TYPE_URLS, fields: object = {}): void {
    this.stream.receive(encode(DISCOVERY.DeltaDiscoveryRequest, { typeUrl: TYPE_URLS[type], ...fields }));
  }

  /** HTTP/2 takes the message in flight. */
  drain(): boolean {
    const done = this.#done;
    this.#done = undefined;
    done?.();
    return done !== undefined;
  }

  /** HTTP/2 takes everything. @returns `type name@version …` of what was written since `from`. */
  flush(from = 0): readonly string[] {
    while (this.drain());
    return this.written.slice(from).map(({ type, names }) => [type, ...names].join(' '));
  }

  acknowledgeAll(): void {
    this.flush();
    for (const { type, nonce } of this.written)
      this.request(type as keyof typeof TYPE_URLS, { responseNonce: nonce });
  }
}

const EVERYTHING: Contents = {
  cluster: { g: '1' },
  endpoint: { g: '1' },
  listener: { l: '1' },
  route: { r: '1' },
};

/** A client of everything, served and settled. */
function served(): Bench {
  const bench = new Bench();
  bench.publish(EVERYTHING);
  bench.request('cluster', { node: { id: 'n', cluster: 'c' } });
  bench.request('endpoint', { resourceNamesSubscribe: ['g'] });
  bench.request('listener');
  bench.request('route', { resourceNamesSubscribe: ['r'] });
  bench.acknowledgeAll();
  bench.written.length = 0;
  return bench;
}

test('nothing is answered before the first snapshot, then all that was asked', () => {
  const bench = new Bench();
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
  bench.publish({ ...EVERYTHING, cluster: { g: '1', other: '1' } });
  assert.deepEqual(bench.flush(), ['cluster other@1']);
});

test('a reconnected client that asks for clusters first is spared what it has', () => {
  const bench = new Bench();
  bench.publish(EVERYTHING);
  bench.request('cluster', { initialResourceVersions: { g: '1' } });
  bench.request('endpoint', { resourceNamesSubscribe: ['g'], initialResourceVersions: { g: '1' } });
  assert.deepEqual(bench.flush(), ['cluster', 'endpoint']);
});

test('a reconnected client gets the endpoints of a cluster that changed meanwhile', () => {
  const bench = new Bench();
  bench.publish(EVERYTHING);
  bench.request('cluster', { initialResourceVersions: { g: '0' } });
  bench.request('endpoint', { resourceNamesSubscribe: ['g'], initialResourceVersions: { g: '1' } });
  assert.deepEqual(bench.flush(), ['cluster g@1', 'endpoint g@1']);
});

test('a reconnected client that asks for endpoints without clusters is warming: it gets them', () => {
  const bench = new Bench();
  bench.publish(EVERYTHING);
  bench.request('endpoint', { resourceNamesSubscribe: ['g'], initialResourceVersions: { g: '1' } });
  assert.deepEqual(bench.flush(), ['endpoint g@1']);
  const single = new Bench([ENDPOINT_TYPE]);
  single.publish(EVERYTHING);
  single.request('endpoint', { resourceNamesSubscribe: ['g'], initialResourceVersions: { g: '1' } });
  assert.deepEqual(single.flush(), ['endpoint'], 'on a stream of its own there are no clusters to ask for');
});

test('an acknowledgement is told with node, versions and time', () => {
  const bench = new Bench();
  bench.publish(EVERYTHING);
  bench.request('endpoint', { node: { id: 'side\ncar' }, resourceNamesSubscribe: ['g'] });
  bench.flush();
  bench.request('endpoint', { node: { id: 'another' }, responseNonce: bench.written[0]?.nonce });
  assert.deepEqual(bench.acknowledged, [
    {
      typeUrl: TYPE_URLS.endpoint,
      node: 'side\\u{a}car',
      resources: new Map([['g', '1']]),
      subscribedAtMs: 1000,
      atMs: 1000,
    },
  ]);
  bench.request('endpoint', { responseNonce: bench.written[0]?.nonce });
  assert.equal(bench.acknowledged.length, 1);
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
  const bench = new Bench();
  bench.stream.receive(encode(DISCOVERY.DeltaDiscoveryRequest, { resourceNamesSubscribe: ['g'] }));
  assert.equal(bench.ended?.[0], status.INVALID_ARGUMENT);
  const single = new Bench([ENDPOINT_TYPE]);
  single.publish(EVERYTHING);
  single.stream.receive(encode(DISCOVERY.DeltaDiscoveryRequest, { resourceNamesSubscribe: ['g'] }));
  assert.deepEqual(single.flush(), ['endpoint g@1']);
});

test('another type ends a single-type stream', () => {
  const bench = new Bench([ENDPOINT_TYPE]);
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

test('a client that does not read loses its connection at the first push beyond the limit', async () => {
  const bench = served();
  bench.publish({ ...EVERYTHING, endpoint: { g: '2' } });
  await bench.clock.advance(READ_LIMIT_MS);
  bench.publish({ ...EVERYTHING, endpoint: { g: '3' } });
  assert.equal(bench.aborted, 0);
  await bench.clock.advance(1);
  bench.publish({ ...EVERYTHING, endpoint: { g: '4' } });
  assert.equal(bench.aborted, 1);
  assert.equal(bench.written.length, 1);
});

test('names that do not exist are told, held ones and repeated acknowledgements are not', () => {
  const bench = new Bench();
  bench.publish(EVERYTHING, ['held']);
  bench.request('endpoint', { node: { id: 'n' }, resourceNamesSubscribe: ['g', 'held', 'lama\n', '*', ''] });
  assert.deepEqual(bench.unknownNames, ['lama\\u{a} by n']);
  bench.acknowledgeAll();
  assert.equal(bench.unknownNames.length, 1);
});

test('nothing is said of a type that is not published: an empty answer would delete what the client has', () => {
  const bench = new Bench();
  bench.publish({}, [], ['cluster']);
  bench.request('cluster', { node: { id: 'n' } });
  assert.deepEqual(bench.flush(), []);
  bench.publish(EVERYTHING);
  assert.deepEqual(bench.flush(), ['cluster g@1']);
  bench.acknowledgeAll();
  bench.publish({}, [], ['cluster']);
  assert.deepEqual(bench.flush(1), []);
});

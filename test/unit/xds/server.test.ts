import assert from 'node:assert/strict';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { pino } from 'pino';
import type { ListenAddress } from '../../../src/core/model/configuration.ts';
import { SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { Acknowledgement, Rejection } from '../../../src/xds/observer.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { XdsServer } from '../../../src/xds/server.ts';
import type { XdsSettings } from '../../../src/xds/settings.ts';
import { XDS_SERVICES } from '../../../src/xds/services.ts';
import { DISCOVERY, encode } from '../../support/discovery-proto.ts';
import type { ReceivedResponse } from '../../support/discovery-response.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { snapshot } from '../../support/snapshots.ts';
import { waitFor } from '../../support/wait-for.ts';
import { XdsClient } from '../../support/xds-client.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

const { cluster: CDS, endpoint: EDS, listener: LDS, route: RDS } = TYPE_URLS;
const VARIANTS = ['sotw', 'delta'] as const;

let store: SnapshotStore;
let server: XdsServer;
let address: ListenAddress;
let events: string[];
let acknowledged: Acknowledgement[];
let rejected: Rejection[];
let closed: object[];
let log: Record<string, unknown>[];
const clients = new Set<XdsClient>();

function makeServer(clock = systemClock, settings: XdsSettings = xdsSettings()): XdsServer {
  return new XdsServer({
    services: XDS_SERVICES,
    sourceOf: () => store,
    settings,
    clock,
    log: pino({ base: null }, { write: (line) => log.push(JSON.parse(line) as Record<string, unknown>) }),
    observer: {
      identified: () => undefined,
      streamOpened: (kind, variant) => events.push(`opened ${kind} ${variant}`),
      streamClosed: (kind, variant, stream) => {
        events.push(`closed ${kind} ${variant}`);
        closed.push(stream);
      },
      sent: () => events.push('sent'),
      acknowledged: (each) => acknowledged.push(each),
      rejected: (each) => rejected.push(each),
      unsubscribed: (_stream, typeUrl, names) => events.push(`left ${names.join(' ')} of ${typeUrl}`),
      unknownType: (typeUrl) => events.push(`unknown ${typeUrl}`),
      refused: (limit) => events.push(`refused ${limit}`),
      unknownName: (typeUrl) => events.push(`unknown name of ${typeUrl}`),
    },
  });
}

beforeEach(async () => {
  store = new SnapshotStore();
  events = [];
  acknowledged = [];
  rejected = [];
  closed = [];
  log = [];
  server = makeServer();
  address = await server.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(async () => {
  for (const client of clients) client.close();
  clients.clear();
  await server.stop();
});

function open(kind: 'ads' | 'eds', variant: 'sotw' | 'delta') {
  const client = new XdsClient(address);
  clients.add(client);
  return client.open(kind, variant);
}

/** `name@version …`, with `-name` for what was removed. */
function content({ resources, removed }: ReceivedResponse): string {
  return [...resources.map(({ value }) => value.toString()), ...removed.map((name) => `-${name}`)].join(' ');
}

/** Names for a request of either variant. */
function asking(variant: 'sotw' | 'delta', ...names: readonly string[]): object {
  return variant === 'sotw' ? { resourceNames: names } : { resourceNamesSubscribe: names };
}

for (const variant of VARIANTS) {
  test(`${variant}: a first request is answered at once, and changes follow`, async () => {
    store.set(snapshot({ endpoint: { a: '1', b: '1' } }));
    const stream = open('eds', variant);
    stream.send({ typeUrl: EDS, node: { id: 'sidecar' }, ...asking(variant, 'a') });
    const first = await stream.next();
    assert.equal(content(first), 'a@1');
    assert.equal(first.typeUrl, EDS);
    assert.equal(first.version, '1');
    assert.equal(first.resources[0]?.typeUrl, EDS);
    stream.acknowledge(first, ['a']);
    await waitFor('the acknowledgement', () => acknowledged.length === 1);
    assert.equal(acknowledged[0]?.node, 'sidecar');
    assert.deepEqual(acknowledged[0]?.resources, new Map([['a', '1']]));
    store.set(snapshot({ endpoint: { a: '2', b: '2' } }));
    assert.equal(content(await stream.next()), 'a@2');
  });

  test(`${variant}: nothing is answered before the first snapshot`, async () => {
    const stream = open('ads', variant);
    stream.send({ typeUrl: CDS });
    stream.send({ typeUrl: LDS });
    stream.send({ typeUrl: 'probe' });
    await waitFor('all requests', () => events.includes('unknown probe'));
    assert.deepEqual(stream.responses, []);
    store.set(snapshot({ cluster: { c: '1' } }));
    assert.equal(content(await stream.next()), 'c@1');
    const listeners = await stream.next();
    assert.equal(listeners.typeUrl, LDS);
    assert.equal(content(listeners), '');
  });

  test(`${variant}: one stream carries all types, a change goes out in order`, async () => {
    store.set(
      snapshot({ cluster: { c: '1' }, endpoint: { c: '1' }, listener: { l: '1' }, route: { r: '1' } }),
    );
    const stream = open('ads', variant);
    const names: Record<string, string[]> = { [RDS]: ['r'], [LDS]: [], [EDS]: ['c'], [CDS]: [] };
    for (const [typeUrl, list] of Object.entries(names)) {
      stream.send({ typeUrl, ...asking(variant, ...list) });
      const response = await stream.next();
      assert.equal(response.typeUrl, typeUrl);
      stream.acknowledge(response, list);
    }
    // Clusters came last: their endpoints follow once more.
    const again = await stream.next();
    assert.equal(again.typeUrl, EDS);
    stream.acknowledge(again, ['c']);
    await waitFor('five acknowledgements', () => acknowledged.length === 5);
    store.set(
      snapshot({ cluster: { c: '2' }, endpoint: { c: '2' }, listener: { l: '2' }, route: { r: '2' } }),
    );
    const types = [];
    for (let i = 0; i < 4; i++) types.push((await stream.next()).typeUrl);
    assert.deepEqual(types, [CDS, EDS, LDS, RDS]);
  });

  test(`${variant}: a client that acknowledges late sees the first and the newest of ten snapshots`, async () => {
    store.set(snapshot({ endpoint: { a: '0' } }));
    const stream = open('eds', variant);
    stream.send({ typeUrl: EDS, ...asking(variant, 'a') });
    const first = await stream.next();
    for (let version = 1; version <= 10; version++) store.set(snapshot({ endpoint: { a: `${version}` } }));
    stream.acknowledge(first, ['a']);
    const newest = await stream.next();
    assert.equal(content(newest), 'a@10');
    stream.acknowledge(newest, ['a']);
    await waitFor('both acknowledgements', () => acknowledged.length === 2);
    assert.equal(stream.responses.length, 2);
  });

  test(`${variant}: a rejected version is not sent again, the next one is`, async () => {
    store.set(snapshot({ endpoint: { a: '1' } }));
    const stream = open('eds', variant);
    stream.send({ typeUrl: EDS, node: { id: 'sidecar' }, ...asking(variant, 'a') });
    stream.reject(await stream.next(), 'weight 0', ['a']);
    await waitFor('the rejection', () => rejected.length === 1);
    const [{ stream: _, ...rejection }] = rejected as [Rejection];
    const resources = new Map([['a', '1']]);
    assert.deepEqual(rejection, { typeUrl: EDS, node: 'sidecar', resources, message: 'weight 0' });
    store.set(snapshot({ endpoint: { a: '1', b: '1' } }));
    store.set(snapshot({ endpoint: { a: '2', b: '1' } }));
    assert.equal(content(await stream.next()), 'a@2');
    assert.ok(log.some(({ reason }) => reason === 'weight 0'));
  });

  test(`${variant}: what a stream says, and its end, are told apart from those of others`, async () => {
    store.set(snapshot({ endpoint: { a: '1' } }));
    const streams = [open('eds', variant), open('eds', variant)] as const;
    for (const stream of streams) {
      stream.send({ typeUrl: EDS, ...asking(variant, 'a') });
      stream.acknowledge(await stream.next(), ['a']);
    }
    await waitFor('two acknowledgements', () => acknowledged.length === 2);
    assert.notEqual(acknowledged[0]?.stream, acknowledged[1]?.stream);
    store.set(snapshot({ endpoint: { a: '2' } }));
    streams[1].reject(await streams[1].next(), 'weight 0', ['a']);
    await waitFor('the rejection', () => rejected.length === 1);
    assert.equal(rejected[0]?.stream, acknowledged[1]?.stream);
    streams[1].finish();
    await waitFor('the close', () => closed.length === 1);
    assert.equal(closed[0], acknowledged[1]?.stream);
  });

  test(`${variant}: a new name is answered at once, though a response is open and the nonce stale`, async () => {
    store.set(snapshot({ endpoint: { a: '1', b: '1' } }));
    const stream = open('eds', variant);
    stream.send({ typeUrl: EDS, ...asking(variant, 'a') });
    await stream.next();
    stream.send({ typeUrl: EDS, responseNonce: 'stale', ...asking(variant, 'a', 'b') });
    assert.match(content(await stream.next()), variant === 'sotw' ? /^b@1$/ : /^a@1 b@1$/);
  });

  test(`${variant}: a held name is answered when it has content`, async () => {
    store.set(snapshot({ endpoint: { b: '1' } }, ['a']));
    const stream = open('eds', variant);
    stream.send({ typeUrl: EDS, ...asking(variant, 'a') });
    stream.send({ typeUrl: EDS, ...asking(variant, 'a', 'b') });
    const answer = await stream.next();
    assert.equal(content(answer), 'b@1');
    stream.acknowledge(answer, ['a', 'b']);
    store.set(snapshot({ endpoint: { a: '1', b: '1' } }));
    const second = await stream.next();
    assert.equal(content(second), 'a@1');
    stream.acknowledge(second, ['a', 'b']);
    store.set(snapshot({ endpoint: { b: '1' } }, ['a']));
    store.set(snapshot({ endpoint: { b: '2' } }, ['a']));
    assert.equal(content(await stream.next()), 'b@2');
  });

  test(`${variant}: streams that are told the same get the same bytes`, async () => {
    store.set(snapshot({ endpoint: { a: '1' } }));
    const streams = [open('eds', variant), open('eds', variant)];
    for (const stream of streams)
      stream.send({ typeUrl: EDS, node: { id: 'one node' }, ...asking(variant, 'a') });
    const [one, other] = await Promise.all(streams.map((stream) => stream.next()));
    assert.deepEqual(one?.bytes, other?.bytes);
    streams[0]?.acknowledge(one as ReceivedResponse, ['a']);
    store.set(snapshot({ endpoint: { a: '2' } }));
    assert.equal(content(await (streams[0] as (typeof streams)[0]).next()), 'a@2');
    assert.equal(streams[1]?.responses.length, 1, 'the other has not acknowledged');
  });

  test(`${variant}: a type that is not served is not answered, counted, and warned of once`, async () => {
    store.set(snapshot({ cluster: { c: '1' } }));
    const stream = open('ads', variant);
    for (let i = 0; i < 3; i++) stream.send({ typeUrl: 'type.googleapis.com/secret' });
    stream.send({ typeUrl: CDS });
    assert.equal(content(await stream.next()), 'c@1');
    assert.equal(events.filter((event) => event === 'unknown type.googleapis.com/secret').length, 3);
    assert.equal(log.filter(({ type }) => type === 'type.googleapis.com/secret').length, 1);
  });

  test(`${variant}: of names that do not exist few are warned of, printable, with those that exist`, async () => {
    store.set(snapshot({ cluster: { c: '1' } }));
    const stream = open('ads', variant);
    const names = Array.from({ length: 50 }, (_, i) => `c\n${i}`);
    stream.send({ typeUrl: CDS, ...asking(variant, 'c', ...names) });
    assert.match(content(await stream.next()), /^c@1/);
    assert.equal(events.filter((event) => event === `unknown name of ${CDS}`).length, 50);
    assert.equal(log.length, 32);
    const { name, existing, total } = log[0] ?? {};
    assert.deepEqual({ name, existing, total }, { name: 'c\\u{a}0', existing: ['c'], total: 1 });
  });

  test(`${variant}: another type ends a single-type stream, malformed bytes end any`, async () => {
    const single = open('eds', variant);
    single.send({ typeUrl: CDS });
    assert.equal((await single.ended()).code, status.INVALID_ARGUMENT);
    const malformed = open('ads', variant);
    malformed.sendBytes(Buffer.from([0x0a, 0xff]));
    const end = await malformed.ended();
    assert.equal(end.code, status.INVALID_ARGUMENT);
    assert.match(end.details, /malformed/);
  });

  test(`${variant}: a client that says it is done is let go`, async () => {
    const stream = open('ads', variant);
    stream.send({ typeUrl: CDS });
    stream.finish();
    assert.equal((await stream.ended()).code, status.OK);
    await waitFor('the close', () => events.includes(`closed ads ${variant}`));
  });
}

test('sotw: a reconnect is answered in full, with the same version', async () => {
  store.set(snapshot({ cluster: { b: '2', a: '1' } }));
  const before = open('ads', 'sotw');
  before.send({ typeUrl: CDS });
  const first = await before.next();
  before.cancel();
  await waitFor('the close', () => events.includes('closed ads sotw'));
  const again = open('ads', 'sotw');
  again.send({ typeUrl: CDS, versionInfo: first.version, responseNonce: first.nonce });
  const second = await again.next();
  assert.equal(content(second), 'a@1 b@2');
  assert.equal(second.version, first.version);
});

test('delta: a reconnect to a server with the same state moves no resource', async () => {
  store.set(snapshot({ cluster: { a: '1' }, endpoint: { a: '1' } }));
  const stream = open('ads', 'delta');
  stream.send({ typeUrl: CDS, initialResourceVersions: { a: '1' } });
  stream.send({ typeUrl: EDS, resourceNamesSubscribe: ['a'], initialResourceVersions: { a: '1' } });
  assert.deepEqual([content(await stream.next()), content(await stream.next())], ['', '']);
});

test('delta: an unknown name is removed and sent when it appears', async () => {
  store.set(snapshot({}));
  const stream = open('eds', 'delta');
  stream.send({ typeUrl: EDS, resourceNamesSubscribe: ['a'] });
  const refusal = await stream.next();
  assert.equal(content(refusal), '-a');
  stream.acknowledge(refusal);
  store.set(snapshot({ endpoint: { a: '1' } }));
  const answer = await stream.next();
  assert.equal(content(answer), 'a@1');
  assert.deepEqual([answer.resources[0]?.name, answer.resources[0]?.version], ['a', '1']);
});

test('sotw: an unknown name is answered when it appears', async () => {
  store.set(snapshot({ endpoint: { b: '1' } }));
  const stream = open('eds', 'sotw');
  stream.send({ typeUrl: EDS, resourceNames: ['a'] });
  stream.send({ typeUrl: EDS, resourceNames: ['a', 'b'] });
  const first = await stream.next();
  assert.equal(content(first), 'b@1');
  stream.acknowledge(first, ['a', 'b']);
  store.set(snapshot({ endpoint: { a: '1', b: '1' } }));
  assert.equal(content(await stream.next()), 'a@1');
});

test('a message beyond 1 MiB ends the stream and not the server', async () => {
  store.set(snapshot({ cluster: { c: '1' } }));
  const large = open('ads', 'sotw');
  large.sendBytes(Buffer.alloc(1024 * 1024 + 1));
  assert.equal((await large.ended()).code, status.RESOURCE_EXHAUSTED);
  const next = open('ads', 'sotw');
  next.send({ typeUrl: CDS });
  assert.equal(content(await next.next()), 'c@1');
});

test('bytes that are no HTTP/2 do no harm', async () => {
  store.set(snapshot({ cluster: { c: '1' } }));
  const socket = connect(address.port, address.host);
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\n\r\n');
  await waitFor('the close', () => socket.resume().readableEnded || socket.destroyed);
  socket.destroy();
  const stream = open('ads', 'delta');
  stream.send({ typeUrl: CDS });
  assert.equal(content(await stream.next()), 'c@1');
});

test('a port in use is an error that names it', async () => {
  const second = makeServer();
  await assert.rejects(second.listen(address), {
    name: 'PlimsollError',
    code: 'io',
    message: new RegExp(`^Xds.Listen: cannot listen on 127.0.0.1 port ${address.port}: .*EADDRINUSE`),
  });
  await second.stop();
});

test('an IPv6 address is bound and served', async () => {
  const second = makeServer();
  store.set(snapshot({ cluster: { c: '1' } }));
  address = await second.listen({ host: '::1', port: 0 });
  const stream = open('ads', 'sotw');
  stream.send({ typeUrl: CDS });
  assert.equal(content(await stream.next()), 'c@1');
  await second.stop();
});

test('stopping ends every stream with UNAVAILABLE and frees the port', async () => {
  const streams = VARIANTS.flatMap((variant) => [open('ads', variant), open('eds', variant)]);
  for (const stream of streams) stream.send({ typeUrl: EDS });
  await waitFor('the streams', () => events.filter((event) => event.startsWith('opened')).length === 4);
  await server.stop();
  for (const stream of streams) assert.equal((await stream.ended()).code, status.UNAVAILABLE);
  assert.equal(events.filter((event) => event.startsWith('closed')).length, 4);
  store.set(snapshot({ cluster: { c: '1' } }));
  const successor = makeServer();
  assert.deepEqual(await successor.listen(address), address);
  await successor.stop();
});

/** A client that asks for 1 MiB and reads none of it, of a server whose clock stands. */
async function stalled() {
  const clock = new FakeClock();
  const slow = makeServer(clock);
  const large = { typeUrl: EDS, name: 'a', version: '1', serverGroup: 'a', bytes: Buffer.alloc(1024 * 1024) };
  const empty = snapshot({});
  store.set({ ...empty, resources: new Map([...empty.resources, [EDS, new Map([['a', large]])]]) });
  address = await slow.listen({ host: '127.0.0.1', port: 0 });
  const session = connectHttp2(`http://${address.host}:${address.port}`);
  const path = '/envoy.service.endpoint.v3.EndpointDiscoveryService/DeltaEndpoints';
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
  for (const each of [session, stream]) each.on('error', () => undefined);
  const message = encode(DISCOVERY.DeltaDiscoveryRequest, { typeUrl: EDS, resourceNamesSubscribe: ['a'] });
  stream.write(Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]));
  await waitFor('the write', () => events.includes('sent'));
  return { clock, slow };
}

test('stopping does not wait for a client that reads nothing', async () => {
  const { clock, slow } = await stalled();
  const stopped = slow.stop();
  assert.ok(!events.includes('closed eds delta'));
  await clock.advance(1_000);
  await stopped;
  assert.equal(clock.pending, 0);
});

test('a client that reads nothing is cut off though nothing is pushed, and others are not', async () => {
  const { clock, slow } = await stalled();
  const reader = open('ads', 'sotw');
  reader.send({ typeUrl: CDS });
  assert.equal(content(await reader.next()), '');
  reader.acknowledge(reader.responses[0] as ReceivedResponse);
  await waitFor('the acknowledgement', () => acknowledged.length === 1);
  await clock.advance(30_000);
  assert.ok(!events.includes('refused ReadSeconds'));
  await clock.advance(5_000);
  await waitFor('the close', () => events.includes('closed eds delta'));
  assert.deepEqual(
    events.filter((event) => event.startsWith('refused')),
    ['refused ReadSeconds'],
  );
  store.set(snapshot({ cluster: { c: '1' } }));
  assert.equal(content(await reader.next()), 'c@1');
  assert.ok(!events.includes('closed ads sotw'));
  await slow.stop();
});

test('stopping twice, or without having listened, is harmless', async () => {
  await makeServer().stop();
  await Promise.all([server.stop(), server.stop()]);
});

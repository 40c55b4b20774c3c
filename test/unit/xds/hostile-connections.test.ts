import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { afterEach, test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import type { ListenAddress } from '../../../src/core/model/configuration.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { DISCOVERY, encode } from '../../support/discovery-proto.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { framed, RawConnection } from '../../support/raw-grpc.ts';
import { FRAME, frame, RawHttp2 } from '../../support/raw-http2.ts';
import { Visitors } from '../../support/visitors.ts';
import { waitFor } from '../../support/wait-for.ts';
import { XdsClient } from '../../support/xds-client.ts';
import { XdsHarness } from '../../support/xds-harness.ts';

const { cluster: CDS } = TYPE_URLS;
const REQUEST = framed(encode(DISCOVERY.DeltaDiscoveryRequest, { typeUrl: CDS }));
/** Of a message of a million bytes. */
const HALF = framed(Buffer.alloc(500_000), 0, 1_000_000);

let harness: XdsHarness;
let address: ListenAddress;
const visitors = new Visitors();

async function start(...limits: Parameters<typeof XdsHarness.limited>) {
  ({ harness, address } = await XdsHarness.limited(...limits));
}

afterEach(async () => {
  visitors.leave();
  await harness.server.stop();
  await waitFor('the last stream', () => harness.streams === 0);
});

function raw(): RawHttp2 {
  return visitors.keep(new RawHttp2(address));
}

/** A client that behaves, and its stream. */
async function honest() {
  const client = visitors.keep(new XdsClient(address));
  const stream = client.open('ads', 'delta');
  stream.send({ typeUrl: CDS });
  stream.acknowledge(await stream.next());
  return stream;
}

/** Passes so much time and gives the sockets a moment after each second. */
async function advance(clock: FakeClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await clock.advance(1000);
    await pass(1);
  }
}

for (const [what, frameBytes, streams] of [
  ['in the smallest frames on one stream', 1, 1],
  ['on many streams', 16_384, 20],
] as const) {
  test(`half messages ${what} cost a connection when they are too much, and no other`, async () => {
    await start({});
    const bystander = await honest();
    const attacker = raw();
    for (let i = 0; i < streams; i++) {
      attacker.data(attacker.open(), framed(Buffer.alloc(950_000), 0, 1_000_000), frameBytes);
    }
    // nearly a million frames have to be read for it
    await waitFor('the close', () => attacker.closed, 60_000);
    assert.deepEqual(harness.refused, ['MessageBytes']);
    assert.match(
      String(harness.log[0]?.['reason']),
      /^Xds\.Limits\.MessageBytes: \d+ bytes that make no request/,
    );
    assert.equal(bystander.status, undefined);
  });
}

test('half a message is waited for as long as ReadSeconds, whole ones as large do no harm', async () => {
  const clock = new FakeClock();
  await start({ readSeconds: 10, requestsPerSecond: 100 }, {}, clock);
  const bystander = await honest();
  const attacker = raw();
  attacker.data(attacker.open(), HALF);
  const large = raw();
  const stream = large.open();
  const node = { id: 'n', metadata: { fields: { a: { stringValue: 'x'.repeat(200_000) } } } };
  const first = framed(encode(DISCOVERY.DeltaDiscoveryRequest, { typeUrl: CDS, node }));
  await waitFor('the streams', () => harness.streams === 3);
  for (let second = 0; second < 9; second++) {
    large.data(stream, first);
    large.data(stream, REQUEST);
    await advance(clock, 1);
  }
  assert.ok(!attacker.closed);
  await advance(clock, 3);
  await waitFor('the close', () => attacker.closed);
  assert.deepEqual(harness.refused, ['ReadSeconds']);
  await advance(clock, 10);
  assert.ok(!large.closed);
  assert.equal(bystander.status, undefined);
});

test('noise that makes no request is borne up to a point, on a connection with streams or without', async () => {
  await start({});
  const bystander = await honest();
  const [served, idle] = [raw(), raw()];
  served.data(served.open(), REQUEST);
  // of a type that nobody knows, which is to be ignored
  const noise = Buffer.concat(Array.from({ length: 30 }, () => frame(0x40, 0, 0, Buffer.alloc(16_384))));
  await waitFor('the closes', () => {
    for (const { socket } of [served, idle]) if (socket.writableLength < 1e6) socket.write(noise);
    return served.closed && idle.closed;
  });
  assert.deepEqual(harness.refused, ['MessageBytes', 'MessageBytes']);
  assert.equal(bystander.status, undefined);
});

test('streams that have been ended and stay open are counted, and cost the connection after ReadSeconds', async () => {
  const clock = new FakeClock();
  await start({ readSeconds: 10, streamsPerIdentity: 20 }, {}, clock);
  const connection = visitors.keep(new RawConnection(address));
  const good = connection.open('delta');
  good.write(REQUEST);
  const bad = Array.from({ length: 19 }, () => connection.open('delta'));
  for (const stream of bad) stream.write(framed(Buffer.from([0xff])));
  await waitFor('the ends', () => harness.streams === 1 && harness.opened === 20);
  const other = visitors.keep(new XdsClient(address));
  const late = other.open('ads', 'delta');
  late.send({ typeUrl: CDS });
  assert.match((await late.ended()).details, /20 streams of this client are open/);
  bad[0]?.end();
  bad[1]?.close();
  await pass(20);
  await advance(clock, 1);
  const next = other.open('ads', 'delta');
  next.send({ typeUrl: CDS });
  await next.next();
  await advance(clock, 8);
  assert.ok(!connection.closed);
  await advance(clock, 3);
  await waitFor('the close', () => connection.closed);
  assert.equal(next.status, undefined);
  assert.equal(harness.refused.at(-1), 'ReadSeconds');
});

test('what comes with refused streams is not owed, however often they come back', async () => {
  const clock = new FakeClock();
  await start({ readSeconds: 10, streamsPerIdentity: 1 }, {}, clock);
  const client = visitors.keep(new XdsClient(address));
  const good = client.open('ads', 'delta');
  good.send({ typeUrl: CDS });
  await good.next();
  const node = { id: 'n', metadata: { fields: { a: { stringValue: 'x'.repeat(60_000) } } } };
  for (let i = 0; i < 30; i++) {
    const refused = client.open('ads', 'delta');
    refused.send({ typeUrl: CDS, node });
    assert.match((await refused.ended()).details, /StreamsPerIdentity/);
    await advance(clock, 1);
  }
  assert.equal(good.status, undefined);
  assert.equal(harness.refused.length, 30);
});

test('refused streams that stay open cost the connection too', async () => {
  const clock = new FakeClock();
  await start({ readSeconds: 10, streamsPerIdentity: 1 }, {}, clock);
  const connection = visitors.keep(new RawConnection(address));
  const [good, second] = [connection.open('delta'), connection.open('delta')];
  good.write(REQUEST);
  await waitFor('the refusal', () => harness.refused.length === 1);
  await advance(clock, 12);
  await waitFor('the close', () => connection.closed);
  assert.ok(second.closed);
});

test('a stream without a request is ended after ReadSeconds', async () => {
  const clock = new FakeClock();
  await start({ readSeconds: 10 }, {}, clock);
  const client = visitors.keep(new XdsClient(address));
  const [silent, busy] = [client.open('ads', 'delta'), client.open('ads', 'delta')];
  busy.send({ typeUrl: CDS });
  await busy.next();
  await waitFor('the streams', () => harness.streams === 2);
  await advance(clock, 10);
  assert.equal(silent.status, undefined);
  await advance(clock, 3);
  assert.equal((await silent.ended()).details, 'Xds.Limits.ReadSeconds: no request for 10 s');
  assert.equal(busy.status, undefined);
  assert.deepEqual(harness.refused, ['ReadSeconds']);
});

test('a connection that breaks HTTP/2 in a way that Node does not read on is closed by Keepalive', async () => {
  await start({}, { keepalive: { intervalSeconds: 0.2, timeoutSeconds: 0.2 } });
  const bystander = await honest();
  for (const [type, flags, stream, payload] of [
    [FRAME.data, 0, 0, Buffer.alloc(2)],
    [FRAME.headers, 4, 3, Buffer.alloc(7, 0xff)],
    [FRAME.settings, 0, 1, Buffer.alloc(5)],
    [FRAME.pushPromise, 4, 1, Buffer.alloc(8)],
    [FRAME.windowUpdate, 0, 0, Buffer.alloc(4)],
    [FRAME.continuation, 0, 1, Buffer.alloc(4)],
    [0x47, 0x45, 1, Buffer.from(' / HTTP/1.1\r\n\r\n')],
  ] as const) {
    const attacker = raw();
    attacker.data(attacker.open(), REQUEST);
    attacker.send(type, flags, stream, payload);
  }
  await waitFor('the streams', () => harness.opened === 8);
  await waitFor('their end', () => harness.streams === 1);
  assert.equal(bystander.status, undefined);
});

test('connections of one address that come and go without end are turned away', async () => {
  const clock = new FakeClock();
  await start({ newStreamsPerSecond: 10, streamsPerIdentity: 20 }, {}, clock);
  for (let i = 0; i < 25; i++) {
    const socket = connect(address.port, address.host)
      .on('error', () => undefined)
      .resume();
    await waitFor('the connection', () => !socket.connecting);
    socket.destroy();
  }
  await waitFor('the refusals', () => harness.refused.length === 5);
  assert.deepEqual(new Set(harness.refused), new Set(['NewStreamsPerSecond']));
  await clock.advance(1000);
  const later = raw();
  later.data(later.open(), REQUEST);
  await waitFor('the stream', () => harness.streams === 1);
});

test('whoever says to be another one each time makes one log line of a kind', async () => {
  await start({ names: 1 });
  const client = visitors.keep(new XdsClient(address));
  for (let i = 0; i < 50; i++) {
    const stream = client.open('ads', 'delta');
    stream.send({ typeUrl: CDS, node: { id: `node ${i}` } });
    const { nonce } = await stream.next();
    stream.send({ typeUrl: CDS, responseNonce: nonce, errorDetail: { code: 13, message: 'no' } });
    stream.send({ typeUrl: CDS, resourceNamesSubscribe: ['x', 'y', 'z'] });
    await stream.ended();
  }
  assert.equal(harness.rejected, 50);
  assert.equal(harness.refused.length, 50);
  assert.deepEqual(
    harness.log.map(({ msg }) => String(msg).slice(0, 20)),
    ['a sidecar rejected a', 'a client went beyond'],
  );
});

test('names that do not exist, asked for over and over, count as requests of the client', async () => {
  await start({ streamsPerIdentity: 5, requestsPerSecond: 90 }, {}, new FakeClock());
  const client = visitors.keep(new XdsClient(address));
  const stream = client.open('ads', 'delta');
  const resourceNamesSubscribe = Array.from({ length: 1000 }, (_, i) => `invented ${i}`);
  for (let i = 0; i < 3; i++) stream.send({ typeUrl: CDS, resourceNamesSubscribe });
  assert.match((await stream.ended()).details, /RequestsPerSecond: more than 100 requests of this client/);
  assert.ok(stream.responses.length < 2);
});

test('the requests of a client on many streams are metered together', async () => {
  await start({ streamsPerIdentity: 5, requestsPerSecond: 90 }, {}, new FakeClock());
  const client = visitors.keep(new XdsClient(address));
  const streams = Array.from({ length: 5 }, () => client.open('ads', 'delta'));
  for (let i = 0; i < 21; i++) for (const stream of streams) stream.send({ typeUrl: CDS });
  await waitFor('an end', () => harness.refused.length > 0);
  assert.match(
    String(harness.log[0]?.['reason']),
    /^Xds.Limits.RequestsPerSecond: more than 100 requests of this client/,
  );
});

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import type { ListenAddress } from '../../../src/core/model/configuration.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { RawConnection } from '../../support/raw-grpc.ts';
import { Visitors } from '../../support/visitors.ts';
import { waitFor } from '../../support/wait-for.ts';
import { XdsClient, type XdsTestStream } from '../../support/xds-client.ts';
import { XdsHarness } from '../../support/xds-harness.ts';

const { cluster: CDS } = TYPE_URLS;

let harness: XdsHarness;
let address: ListenAddress;
const visitors = new Visitors();

async function start(...limits: Parameters<typeof XdsHarness.limited>) {
  ({ harness, address } = await XdsHarness.limited(...limits));
}

afterEach(async () => {
  visitors.leave();
  await harness.server.stop();
  assert.equal(harness.streams, 0);
});

function client(): XdsClient {
  return visitors.keep(new XdsClient(address));
}

function raw(): RawConnection {
  return visitors.keep(new RawConnection(address));
}

function open(on = client()): XdsTestStream {
  const stream = on.open('ads', 'delta');
  stream.send({ typeUrl: CDS });
  return stream;
}

/** How the stream went: `served` or the status that it ended with. */
async function outcome(stream: XdsTestStream): Promise<string> {
  return waitFor('an answer or an end', () => {
    if (stream.status !== undefined) return status[stream.status.code];
    return stream.responses.length > 0 && 'served';
  });
}

test('streams beyond Streams are refused until one closes', async () => {
  await start({ streams: 2 });
  const on = client();
  const first = open(on);
  const second = open(on);
  assert.deepEqual([await outcome(first), await outcome(second)], ['served', 'served']);
  const third = open(on);
  assert.equal(await outcome(third), 'RESOURCE_EXHAUSTED');
  assert.equal(third.status?.details, 'Xds.Limits.Streams: 2 streams are open');
  assert.deepEqual(harness.refused, ['Streams']);
  first.cancel();
  await waitFor('the close', () => harness.streams === 1);
  assert.equal(await outcome(open(on)), 'served');
});

test('streams beyond StreamsPerIdentity are refused, whatever connections they are on', async () => {
  await start({ streamsPerIdentity: 2 });
  const outcomes = [];
  const [one, other] = [client(), client()];
  for (const on of [one, other, other]) outcomes.push(await outcome(open(on)));
  assert.deepEqual(outcomes, ['served', 'served', 'RESOURCE_EXHAUSTED']);
  assert.deepEqual(harness.refused, ['StreamsPerIdentity']);
  assert.equal(harness.log[0]?.['client'], '127.0.0.1');
});

test('connections beyond StreamsPerIdentity are closed', async () => {
  await start({ streamsPerIdentity: 2 });
  assert.equal(await outcome(open()), 'served');
  const second = raw();
  const third = raw();
  await waitFor('the close', () => third.closed);
  assert.ok(!second.closed);
  assert.deepEqual(harness.refused, ['StreamsPerIdentity']);
});

test('connections beyond Streams are closed', async () => {
  await start({ streams: 2 });
  const sockets: Socket[] = [];
  for (let i = 0; i < 3; i++) {
    const socket = connect(address.port, address.host).resume();
    socket.on('error', () => undefined);
    visitors.keep(socket);
    await waitFor('the connection', () => !socket.connecting);
    sockets.push(socket);
  }
  await waitFor('the close', () => sockets[2]?.closed);
  assert.ok(!sockets[0]?.closed);
  await waitFor('the count', () => harness.refused.length === 1);
  assert.deepEqual(harness.refused, ['Streams']);
});

test('a connection is told StreamsPerConnection and gets no more', async () => {
  await start({ streamsPerConnection: 3 });
  const connection = raw();
  await waitFor('the settings', () => connection.session.remoteSettings?.maxConcurrentStreams === 3);
  const streams = Array.from({ length: 5 }, () => connection.open('delta'));
  await waitFor('three streams', () => harness.streams === 3);
  streams[0]?.close();
  await waitFor('the fourth in its place', () => harness.opened === 4);
  assert.equal(harness.streams, 3);
});

test('a storm is spread by NewStreamsPerSecond, and makes few log lines', async () => {
  const clock = new FakeClock();
  await start({ newStreamsPerSecond: 10 }, {}, clock);
  const on = client();
  const storm = await Promise.all(Array.from({ length: 50 }, () => outcome(open(on))));
  assert.equal(storm.filter((each) => each === 'served').length, 10);
  assert.equal(storm.filter((each) => each === 'RESOURCE_EXHAUSTED').length, 40);
  assert.deepEqual(harness.refused, Array(40).fill('NewStreamsPerSecond'));
  assert.equal(harness.log.length, 1);
  await clock.advance(500);
  const later = await Promise.all(Array.from({ length: 10 }, () => outcome(open(on))));
  assert.equal(later.filter((each) => each === 'served').length, 5);
});

test('a message beyond MessageBytes, however large, ends its stream and no other, and is told', async () => {
  await start({ messageBytes: 131_072 });
  const on = client();
  const bystander = open(on);
  assert.equal(await outcome(bystander), 'served');
  for (const bytes of [131_073, 262_144, 262_145, 10_000_000]) {
    const stream = on.open('ads', 'sotw');
    stream.sendBytes(Buffer.alloc(bytes));
    assert.equal(await outcome(stream), 'RESOURCE_EXHAUSTED', `${bytes} bytes`);
  }
  await waitFor('the closes', () => harness.streams === 1);
  assert.deepEqual(harness.refused, Array(4).fill('MessageBytes'));
  assert.equal(harness.log[0]?.['limit'], 'MessageBytes');
  assert.equal(bystander.status, undefined);
});

test('a stream beyond RequestsPerSecond is ended', async () => {
  await start({ requestsPerSecond: 10 });
  const stream = open();
  for (let i = 0; i < 20; i++) stream.send({ typeUrl: CDS });
  const end = await stream.ended();
  assert.equal(end.code, status.RESOURCE_EXHAUSTED);
  assert.match(end.details, /^Xds\.Limits\.RequestsPerSecond: /);
});

test('a connection without a stream is closed after a minute, one with a stream is not', async () => {
  const clock = new FakeClock();
  await start({}, {}, clock);
  const silent = connect(address.port, address.host).resume();
  visitors.keep(silent);
  const idle = raw();
  await waitFor(
    'the connections',
    () => !silent.connecting && idle.session.remoteSettings?.maxConcurrentStreams,
  );
  const busy = open();
  assert.equal(await outcome(busy), 'served');
  await clock.advance(60_000);
  assert.ok(!silent.closed && !idle.closed);
  await clock.advance(5_000);
  await waitFor('the closes', () => silent.closed && idle.closed);
  assert.equal(busy.status, undefined);
});

test('streams that have closed are looked after no more', async () => {
  const clock = new FakeClock();
  await start({}, {}, clock);
  const on = client();
  for (let i = 0; i < 10; i++) {
    const stream = open(on);
    assert.equal(await outcome(stream), 'served');
    stream.cancel();
  }
  await waitFor('the closes', () => harness.streams === 0);
  await clock.advance(120_000);
  assert.deepEqual(harness.refused, []);
});

test('a connection is closed at its age, and the client is served on another one', async () => {
  await start({}, { maxConnectionAgeSeconds: 0.2 });
  const on = client();
  const stream = open(on);
  assert.equal(await outcome(stream), 'served');
  await stream.ended();
  assert.equal(await outcome(open(on)), 'served');
});

test('a client that answers no ping is closed by Keepalive', async () => {
  await start({}, { keepalive: { intervalSeconds: 0.1, timeoutSeconds: 0.1 } });
  const stream = open();
  assert.equal(await outcome(stream), 'served');
  const mute = connect(address.port, address.host);
  visitors.keep(mute);
  mute.on('error', () => undefined);
  mute.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  await waitFor('the close', () => mute.resume().readableEnded || mute.closed);
  assert.equal(stream.status, undefined);
});

test('stopping ends many streams with UNAVAILABLE, and cuts off those that stay', async () => {
  await start({});
  const clients = Array.from({ length: 5 }, client);
  const streams = clients.flatMap((on) => Array.from({ length: 80 }, () => open(on)));
  const stubborn = raw();
  for (let i = 0; i < 20; i++) stubborn.open('delta');
  await waitFor('the streams', () => harness.streams === 420);
  await Promise.all(streams.map((stream) => outcome(stream)));
  await harness.server.stop();
  for (const stream of streams) assert.equal((await stream.ended()).code, status.UNAVAILABLE);
  await waitFor('the end of the stubborn one', () => stubborn.closed);
  assert.equal(harness.streams, 0);
});

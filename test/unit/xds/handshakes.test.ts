import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, before, beforeEach, test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { LogLimiter } from '../../../src/runtime/log-limiter.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { Handshakes } from '../../../src/xds/handshakes.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Issued, TestCa } from '../../support/pki.ts';
import { waitFor } from '../../support/wait-for.ts';

let ca: TestCa;
let own: Issued;
let clock: FakeClock;
let handshakes: Handshakes;
let failures: string[];
let accepted: TLSSocket[];
let begun: number;
let server: Server;
const sockets = new Set<Socket>();

before(async () => {
  ca = await TestCa.create();
  own = await ca.issue({ ip: ['127.0.0.1'] });
});

beforeEach(async () => {
  clock = new FakeClock();
  failures = [];
  accepted = [];
  begun = 0;
  handshakes = new Handshakes({
    clock,
    warnings: new LogLimiter({ log: silentLogger, clock: new FakeClock() }),
    limit: 20,
    failed: (reason) => failures.push(reason),
    accept: (socket) => accepted.push(socket),
  });
  handshakes.use({
    cert: own.cert,
    key: Buffer.from(own.key),
    ca: undefined,
    validMs: [0, 0],
    caValidMs: [],
  });
  server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    handshakes.begin(socket);
    begun++;
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve));
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((resolve) => server.close(resolve));
  await waitFor('the end of all timers', () => clock.pending === 0);
});

function port(): number {
  return (server.address() as AddressInfo).port;
}

/** Connects and says nothing. */
function silent(): Socket {
  const socket = connect({ port: port(), host: '127.0.0.1' });
  sockets.add(socket.on('error', () => undefined).resume());
  return socket;
}

function honest(): TLSSocket {
  const socket = connectTls({ port: port(), host: '127.0.0.1', ca: ca.cert, ALPNProtocols: ['h2'] });
  sockets.add(socket.on('error', () => undefined).resume());
  return socket;
}

test('a handshake gets ten seconds, also one that goes on byte by byte', async () => {
  const still = silent();
  const drip = silent();
  await waitFor('the connections', () => begun === 2);
  // the beginning of a ClientHello record of 512 bytes
  drip.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]));
  for (let second = 1; second < 10; second++) {
    await clock.advance(1000);
    drip.write(Buffer.from([second]));
  }
  assert.deepEqual([failures, still.closed, drip.closed], [[], false, false]);
  await clock.advance(1000);
  assert.deepEqual(failures, ['timeout', 'timeout']);
  await waitFor('the closes', () => still.closed && drip.closed);
});

test('a connection that got through has no deadline any more', async () => {
  const socket = honest();
  await waitFor('the handshake', () => accepted.length === 1);
  assert.equal(clock.pending, 0);
  await clock.advance(60_000);
  assert.deepEqual([failures, socket.closed], [[], false]);
});

test('who goes away by itself leaves nothing behind', async () => {
  const socket = silent();
  await waitFor('the connection', () => begun === 1);
  socket.destroy();
  await waitFor('the close', () => clock.pending === 0);
  assert.deepEqual(failures, []);
});

test('beyond the limit the oldest handshakes go, and an honest client still gets through', async () => {
  const first = silent();
  await waitFor('the first', () => begun === 1);
  for (let i = 1; i < 30; i++) silent();
  await waitFor('all connections', () => begun === 30);
  assert.deepEqual(
    failures,
    Array.from({ length: 10 }, () => 'crowded'),
  );
  await waitFor('the close', () => first.closed);
  honest();
  await waitFor('the handshake', () => accepted.length === 1);
});

test('an address that has the most makes room for the others', async () => {
  const other = connect({ port: port(), host: '127.0.0.1', localAddress: '127.0.0.2' });
  sockets.add(other.on('error', () => undefined).resume());
  await waitFor('the other', () => begun === 1);
  for (let i = 0; i < 40; i++) silent();
  await waitFor('all connections', () => begun === 41);
  assert.equal(failures.length, 21);
  assert.equal(other.closed, false);
});

test('new credentials are for the next connections', async () => {
  const early = honest();
  await waitFor('the handshake', () => early.authorized);
  const other = await ca.issue({ ip: ['127.0.0.1'] });
  handshakes.use({
    cert: other.cert,
    key: Buffer.from(other.key),
    ca: undefined,
    validMs: [0, 0],
    caValidMs: [],
  });
  const late = honest();
  await waitFor('the handshake', () => late.authorized);
  assert.notDeepEqual(late.getPeerCertificate().raw, early.getPeerCertificate().raw);
  assert.equal(early.closed, false);
});

import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import type { AdminServer } from '../../../src/admin/server.ts';
import { adminServer } from '../../support/admin-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Node tells there of each request that comes in. */
const REQUEST_START = 'http.server.request.start';

let clock: FakeClock;
let server: AdminServer;
let port: number;
let makePage: () => Promise<string>;
const sockets: Socket[] = [];
/** The server's side of each request. */
const accepted: Socket[] = [];
const warnings: string[] = [];

function onRequest(message: unknown): void {
  accepted.push((message as { socket: Socket }).socket);
}

function onWarning({ message }: Error): void {
  warnings.push(message);
}

beforeEach(async () => {
  process.on('warning', onWarning);
  subscribe(REQUEST_START, onRequest);
  clock = new FakeClock();
  makePage = () => Promise.resolve('a 1\n');
  server = adminServer({ clock, metrics: () => makePage() });
  ({ port } = await server.listen());
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.stop();
  process.off('warning', onWarning);
  unsubscribe(REQUEST_START, onRequest);
  accepted.splice(0);
  assert.deepEqual(warnings.splice(0), []);
});

/** A connection that asks for all of these in one go, and what it has been told. */
function ask(...paths: string[]): { socket: Socket; heard: () => string } {
  let heard = '';
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('')),
  );
  sockets.push(socket);
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  return { socket, heard: () => heard };
}

function times(count: number, text: string): readonly string[] {
  return Array.from({ length: count }, () => text);
}

async function statusOf(path: string): Promise<string> {
  const { socket, heard } = ask(path);
  await once(socket, 'data');
  socket.destroy();
  return heard().slice(9, 12);
}

for (const [path, most] of [
  ['/events', 64],
  ['/samples', 8],
] as const) {
  test(`a connection has one place on ${path} however often it asks, and none when it is gone`, async () => {
    const often = Array.from({ length: most / 8 }, () => ask(...times(9, path)));
    await Promise.all(often.map(({ socket }) => once(socket, 'data')));
    assert.equal(await statusOf(path), '200');
    for (const { socket } of often) socket.destroy();
    await waitFor('nothing that is still to happen', () => clock.pending === 0);
    const all = Array.from({ length: most }, () => ask(path));
    await Promise.all(all.map(({ socket }) => once(socket, 'data')));
    assert.ok(all.every(({ heard }) => heard().startsWith('HTTP/1.1 200')));
    assert.equal(await statusOf(path), '503');
  });

  test(`${path} after another request on a connection begins in its turn`, async () => {
    let hand: ((page: string) => void) | undefined;
    makePage = () =>
      new Promise((resolve) => {
        hand = resolve;
      });
    const { heard } = ask('/metrics', path);
    await waitFor('the request', () => hand !== undefined);
    hand?.('a 1\n');
    await waitFor('both', () => /a 1\n[^]*(event: state|plimsoll samples)/.test(heard()));
  });
}

test('a connection that asks for more ahead than it may is closed, and has nothing left', async () => {
  const { socket, heard } = ask('/events', ...times(17, '/healthz'));
  await once(
    socket.on('error', () => undefined),
    'close',
  );
  assert.doesNotMatch(heard(), /ok/);
  await waitFor('nothing that is still to happen', () => clock.pending === 0);
});

test('as many as may be asked for ahead are answered in their order', async () => {
  const { heard } = ask('/healthz', ...times(15, '/explain/none'), '/metrics');
  await waitFor('the last', () => heard().endsWith('a 1\n'));
  const answers = heard()
    .match(/HTTP\/1\.1 \d+/g)
    ?.map((line) => line.slice(9));
  assert.deepEqual(answers, ['200', ...times(15, '404'), '200']);
});

test('answers that nobody can take any more leave nothing scheduled', async () => {
  const { socket } = ask('/events', ...times(10, '/healthz'));
  await once(socket, 'data');
  socket.destroy();
  await waitFor('nothing that is still to happen', () => clock.pending === 0);
});

test('a page that is made when its scraper has gone leaves nothing scheduled', async () => {
  let hand: ((page: string) => void) | undefined;
  makePage = () =>
    new Promise((resolve) => {
      hand = resolve;
    });
  const { socket } = ask('/metrics');
  await waitFor('the request', () => hand !== undefined);
  const gone = once(accepted.at(-1) as Socket, 'close');
  socket.destroy();
  await gone;
  hand?.('a 1\n');
  await clock.advance(0);
  assert.equal(clock.pending, 0);
});

test('requests one after the other leave no listener on their connection', async () => {
  const { socket } = ask('/healthz');
  await once(socket, 'data');
  const listeners = accepted.at(-1)?.listenerCount('close');
  for (let i = 0; i < 20; i++) {
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
  }
  assert.equal(accepted.length, 21);
  assert.ok(accepted.every((each) => each === accepted[0]));
  assert.equal(accepted.at(-1)?.listenerCount('close'), listeners);
});

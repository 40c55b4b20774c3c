import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { Wire } from '../../faults/wire.ts';
import { waitFor } from '../../support/wait-for.ts';

let server: Server;
let wire: Wire;
let far: readonly Socket[];
const near: Socket[] = [];

beforeEach(async () => {
  far = [];
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    far = [...far, socket];
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  wire = await Wire.open((server.address() as AddressInfo).port);
});

afterEach(async () => {
  for (const socket of near.splice(0)) socket.destroy();
  await wire.close();
  await new Promise((resolve) => server.close(resolve));
});

/** A connection through the wire: what came out at this side, and how it ended. */
async function join() {
  const socket = connect(wire.port, '127.0.0.1');
  near.push(socket);
  const seen = { socket, text: '', error: '', ended: false };
  socket
    .on('error', (error: NodeJS.ErrnoException) => {
      seen.error = error.code ?? '';
    })
    .on('data', (chunk) => {
      seen.text += chunk.toString();
    })
    .on('close', () => {
      seen.ended = true;
    });
  await once(socket, 'connect');
  return seen;
}

function other(index = 0): Promise<Socket> {
  return waitFor('the other side', () => far[index]);
}

test('open: bytes pass both ways, and so does the end', async () => {
  const one = await join();
  const peer = await other();
  one.socket.write('hello');
  const [chunk] = (await once(peer, 'data')) as [Buffer];
  assert.equal(chunk.toString(), 'hello');
  peer.end('bye');
  await waitFor('the end', () => one.ended);
  assert.equal(one.text, 'bye');
});

test('cut: connections are reset, new ones are not', async () => {
  const one = await join();
  await other();
  wire.cut();
  await waitFor('the reset', () => one.error === 'ECONNRESET');
  await join();
  await other(1);
});

test('closed: what connects is reset and does not reach the other side', async () => {
  wire.state = 'closed';
  await assert.rejects(
    join().then(({ socket }) => once(socket, 'data')),
    { code: 'ECONNRESET' },
  );
  assert.equal(far.length, 0);
});

test('silent: nothing passes, not even the end, until it is open again', async () => {
  const one = await join();
  const peer = await other();
  wire.state = 'silent';
  peer.end('late');
  const control = await once(peer, 'finish').then(() => join());
  await other(1);
  assert.deepEqual([one.text, one.ended, control.ended], ['', false, false]);
  wire.state = 'open';
  await waitFor('what was held back', () => one.text === 'late' && one.ended);
});

test('slow: one byte comes, the others follow once it is open', async () => {
  wire.state = 'slow';
  const one = await join();
  const peer = await other();
  peer.write('abc');
  await waitFor('the first byte', () => one.text !== '');
  assert.equal(one.text, 'a');
  wire.state = 'open';
  await waitFor('the rest', () => one.text === 'abc');
});

test('new connections go where it leads to now', async () => {
  const second = createServer();
  await new Promise<void>((resolve) => second.listen(0, '127.0.0.1', resolve));
  wire.to = (second.address() as AddressInfo).port;
  const reached = once(second, 'connection') as Promise<[Socket]>;
  await join();
  const [socket] = await reached;
  socket.destroy();
  await new Promise((resolve) => second.close(resolve));
  assert.equal(far.length, 0);
});

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import type { Connection } from '../../../src/xds/connection.ts';
import { Connections } from '../../../src/xds/connections.ts';
import { waitFor } from '../../support/wait-for.ts';

let connections: Connections;
let accepted: Connection[];
let closed: Connection[];
let port: number;

beforeEach(async () => {
  accepted = [];
  closed = [];
  connections = new Connections({
    now: () => 0,
    limit: 10,
    accept: (connection) => accepted.push(connection),
    closed: (connection) => closed.push(connection),
    dropped: () => undefined,
  });
  port = (await connections.listen({ host: '127.0.0.1', port: 0 })).port;
});

afterEach(async () => {
  for (const connection of connections.open) connection.abort();
  await connections.close();
});

/** Its own, where no other connection of the machine, open or just over, keeps a port. */
const CLIENT = '127.0.61.1';

/** From that port; 0: from any. */
async function arrive(localPort: number): Promise<Socket> {
  const count = accepted.length;
  const socket = connect({ host: '127.0.0.1', port, localAddress: CLIENT, localPort });
  socket.on('error', () => undefined);
  await waitFor('the connection', () => accepted.length > count);
  return socket;
}

test('a connection is found by its peer until it closes', async () => {
  const socket = await arrive(0);
  const [connection] = accepted;
  assert.ok(connection !== undefined);
  assert.equal(connection.peer, `${CLIENT}:${socket.localPort}`);
  assert.equal(connections.of(connection.peer), connection);
  socket.destroy();
  await waitFor('the close', () => closed.length === 1);
  assert.equal(connections.of(connection.peer), undefined);
  assert.equal(connections.open.size, 0);
});

test('a peer that is back before the close of its old connection is known keeps the new one', async () => {
  const old = await arrive(0);
  const { localPort } = old;
  const [first] = accepted;
  assert.ok(first !== undefined && localPort !== undefined);
  // the server does not hear of the end: the port is free at once, and its socket is still there
  old.resetAndDestroy();
  const [later] = await Promise.all([arrive(localPort), waitFor('the close', () => closed.length === 1)]);
  assert.deepEqual(closed, [first]);
  assert.equal(connections.of(first.peer), accepted[1]);
  later.destroy();
});

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Connection } from '../../../src/xds/connection.ts';
import { IDLE_MS, unfit } from '../../../src/xds/unfit.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

const { limits } = xdsSettings();
const MEGABYTE = 1024 * 1024;

/** A connection whose bytes are in the test's hands, with a stream on it. */
function make(nowMs = 0): { readonly connection: Connection; readonly socket: { bytesRead: number } } {
  const socket = { bytesRead: 0, remoteAddress: '10.0.0.1', remotePort: 1 };
  const connection = new Connection(socket as unknown as Socket, nowMs);
  connection.openStream();
  return { connection, socket };
}

function look(of: readonly { readonly connection: Connection }[], totalBytes: number, nowMs: number) {
  const connections = of.map(({ connection }) => connection);
  return unfit(connections, limits, totalBytes, nowMs).map(({ connection, refusal }) => [
    connections.indexOf(connection),
    refusal?.limit,
  ]);
}

test('who owes too much goes', () => {
  const [one, other] = [make(), make()];
  one.socket.bytesRead = 8 * MEGABYTE;
  other.socket.bytesRead = 8 * MEGABYTE + 1000;
  assert.deepEqual(look([one, other], 1e9, 0), [[1, 'MessageBytes']]);
});

test('who owes for longer than ReadSeconds goes, however little beyond next to nothing it is', () => {
  const [one, other] = [make(), make()];
  one.socket.bytesRead = 20_000;
  other.socket.bytesRead = 16_000;
  assert.deepEqual(look([one, other], 1e9, 1000), []);
  assert.deepEqual(look([one, other], 1e9, 31_000), []);
  assert.deepEqual(look([one, other], 1e9, 31_001), [[0, 'ReadSeconds']]);
});

test('when all together owe too much those go that have done so for the longest, and no more than need be', () => {
  const all = [make(), make(), make(), make()];
  for (const [index, { socket }] of all.entries()) {
    socket.bytesRead = 3 * MEGABYTE;
    assert.deepEqual(look(all, 12 * MEGABYTE, index * 1000), []);
  }
  const late = make(5000);
  late.socket.bytesRead = 3 * MEGABYTE;
  assert.deepEqual(look([late, ...all], 12 * MEGABYTE, 5000), [[1, 'MessageBytes']]);
});

test('a connection without a stream goes after a minute, which begins when its last stream ends', () => {
  const { connection, socket } = make();
  const silent = { connection: new Connection(socket as unknown as Socket, 0), socket };
  const busy = { connection, socket };
  assert.deepEqual(look([silent, busy], 1e9, IDLE_MS), []);
  assert.deepEqual(look([silent, busy], 1e9, IDLE_MS + 1), [[0, undefined]]);
  connection.closeStream(IDLE_MS);
  assert.deepEqual(look([busy], 1e9, 2 * IDLE_MS), []);
  assert.deepEqual(look([busy], 1e9, 2 * IDLE_MS + 1), [[0, undefined]]);
});

test('a stream that was ended and stays open is counted until it closes, or its connection does', () => {
  const { connection } = make();
  let open = true;
  let closed = 0;
  const ended = { isOpen: () => open, closed: () => closed++ };
  connection.linger(ended, 0);
  connection.linger({ ...ended, isOpen: () => true }, 1000);
  connection.look(2000);
  assert.deepEqual([closed, connection.unfinishedSinceMs], [0, 0]);
  open = false;
  connection.look(3000);
  assert.deepEqual([closed, connection.unfinishedSinceMs], [1, 1000]);
  connection.close();
  assert.equal(closed, 2);
  connection.linger(ended, 4000);
  assert.equal(closed, 3, 'the connection is gone already');
});

test('many streams that are ended at once do not pile up', () => {
  const { connection } = make();
  let closed = 0;
  for (let i = 0; i < 10_000; i++) connection.linger({ isOpen: () => false, closed: () => closed++ }, 0);
  assert.ok(closed > 9_000, `${closed}`);
});

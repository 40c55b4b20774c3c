import assert from 'node:assert/strict';
import { once } from 'node:events';
import { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { adminServer } from '../../support/admin-server.ts';

/** More than sockets take on their way. */
const PAGE_BYTES = 64 * 1024 * 1024;
const REQUEST = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

test('a slow reader is handed no more than it has room for, and the same bytes as others', async (t) => {
  const handed: unknown[] = [];
  for (const name of ['write', 'end'] as const) {
    const original = ServerResponse.prototype[name] as (...all: unknown[]) => unknown;
    t.mock.method(ServerResponse.prototype, name, function (this: ServerResponse, ...all: unknown[]) {
      if (all[0] !== undefined && all[0] !== null) handed.push(all[0]);
      return original.apply(this, all);
    });
  }
  const server = adminServer({ metrics: () => Promise.resolve('x'.repeat(PAGE_BYTES)) });
  const { port } = await server.listen();
  t.after(() => server.stop());
  const ask = (): Socket => {
    const client = connect(port, '127.0.0.1', () => client.write(REQUEST));
    t.after(() => client.destroy());
    return client;
  };

  const slow = ask();
  await once(slow, 'readable');
  const fast = ask().resume();
  await once(fast, 'close');
  assert.ok(fast.bytesRead > PAGE_BYTES);
  const portions = handed.filter((each) => Buffer.isBuffer(each));
  assert.equal(portions.length, handed.length, 'put into bytes before they are handed over');
  const bytes = portions.reduce((sum, { length }) => sum + length, 0);
  assert.ok(bytes < 2 * PAGE_BYTES, `${bytes - PAGE_BYTES} bytes for who reads nothing`);
});

test('whoever asks gets all of it, and its length before', async () => {
  for (const length of [0, 1, 64 * 1024, 64 * 1024 + 1]) {
    const server = adminServer({ metrics: () => Promise.resolve('x'.repeat(length)) });
    try {
      const { port } = await server.listen();
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
      assert.equal(answer.headers.get('content-length'), String(length));
      assert.equal((await answer.text()).length, length);
    } finally {
      await server.stop();
    }
  }
});

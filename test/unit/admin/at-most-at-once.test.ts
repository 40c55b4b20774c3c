import assert from 'node:assert/strict';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { request } from 'undici';
import { atMostAtOnce } from '../../../src/admin/at-most-at-once.ts';
import { waitFor } from '../../support/wait-for.ts';

test('one more than may be answered at once is refused, until one has ended, however it did', async (t) => {
  const waiting: (() => void)[] = [];
  const http = Fastify({ forceCloseConnections: true });
  http.get('/:how', { onRequest: atMostAtOnce(2) }, async ({ url }, reply) => {
    if (url === '/slow') await new Promise<void>((resolve) => waiting.push(resolve));
    return reply.send('done');
  });
  await http.listen({ port: 0, host: '127.0.0.1' });
  t.after(() => http.close());
  const { port } = http.server.address() as AddressInfo;
  const ask = async (path: string): Promise<number> => {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`);
    await body.dump();
    return statusCode;
  };

  const slow = 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const gone = [1, 2].map(() => {
    const socket = connect(port, '127.0.0.1', () => socket.write(slow));
    return socket;
  });
  await waitFor('both', () => waiting.length === 2);
  assert.equal(await ask('/fast'), 503);
  for (const socket of gone) socket.destroy();
  await waitFor('room', async () => (await ask('/fast')) === 200);

  const both = [ask('/slow'), ask('/slow')];
  await waitFor('two more', () => waiting.length === 4);
  assert.equal(await ask('/fast'), 503);
  for (const resolve of waiting) resolve();
  assert.deepEqual(await Promise.all(both), [200, 200]);
  await waitFor('room', async () => (await ask('/fast')) === 200);
});

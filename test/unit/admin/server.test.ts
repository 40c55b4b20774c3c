import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { AdminServer } from '../../../src/admin/server.ts';

const explain = { groups: () => [], status: () => undefined, now: () => 0, openStreams: () => 0 };
let ready = false;
const server = new AdminServer({
  ready: () => ready,
  metrics: () => Promise.resolve('plimsoll_up 1\n'),
  metricsContentType: 'text/plain; version=0.0.4',
  explain,
});
let origin: string;

before(async () => {
  const { host, port } = await server.listen({ host: '127.0.0.1', port: 0 });
  origin = `http://${host}:${port}`;
});
after(() => server.stop());

async function get(path: string): Promise<{ status: number; type: unknown; body: string }> {
  const { statusCode, headers, body } = await request(origin + path);
  return { status: statusCode, type: headers['content-type'], body: await body.text() };
}

test('/healthz says that the process answers', async () => {
  assert.equal((await get('/healthz')).status, 200);
});

test('/readyz follows readiness', async () => {
  assert.deepEqual([(await get('/readyz')).status, (await get('/readyz')).body], [503, 'not ready\n']);
  ready = true;
  assert.deepEqual([(await get('/readyz')).status, (await get('/readyz')).body], [200, 'ready\n']);
});

test('/metrics is the page with its content type', async () => {
  const { status, type, body } = await get('/metrics');
  assert.deepEqual([status, type, body], [200, 'text/plain; version=0.0.4', 'plimsoll_up 1\n']);
});

test('nothing else is there', async () => {
  assert.equal((await get('/config')).status, 404);
  assert.equal((await request(`${origin}/metrics`, { method: 'POST' })).statusCode, 404);
});

test('an address in use is named in the error', async () => {
  const port = Number(new URL(origin).port);
  const second = new AdminServer({
    ready: () => true,
    metrics: () => Promise.resolve(''),
    metricsContentType: 'text/plain',
    explain,
  });
  await assert.rejects(second.listen({ host: '127.0.0.1', port }), (error: Error) => {
    assert.match(
      error.message,
      new RegExp(`^Admin.Listen: cannot listen on 127.0.0.1 port ${port}: .*EADDRINUSE`),
    );
    return true;
  });
  await second.stop();
});

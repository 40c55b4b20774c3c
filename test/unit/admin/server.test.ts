import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { adminServer } from '../../support/admin-server.ts';
import { adminSettings } from '../../support/configuration.ts';

let ready = false;
const server = adminServer({
  ready: () => ready,
  metrics: () => Promise.resolve('plimsoll_up 1\n'),
});
let origin: string;

before(async () => {
  const { host, port } = await server.listen();
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

test('what is not there is refused in the shape of every refusal, with the paths that there are', async () => {
  for (const path of ['/config', '/config?token=1']) {
    const { status, type, body } = await get(path);
    assert.deepEqual([status, type], [404, 'application/json; charset=utf-8']);
    assert.deepEqual(JSON.parse(body), {
      error: 'there is no path /config',
      paths: [
        '/',
        '/events',
        '/explain',
        '/explain/GROUP',
        '/healthz',
        '/metrics',
        '/readyz',
        '/samples',
        '/state',
        '/trends/GROUP',
      ],
    });
  }
});

test('an address in use is named in the error', async () => {
  const port = Number(new URL(origin).port);
  const second = adminServer({ settings: adminSettings(port) });
  await assert.rejects(second.listen(), (error: Error) => {
    assert.match(
      error.message,
      new RegExp(`^Admin.Listen: cannot listen on 127.0.0.1 port ${port}: .*EADDRINUSE`),
    );
    return true;
  });
});

test('/readyz tells what is waited for, of ten groups at most', async () => {
  const waiting = Array.from({ length: 12 }, (_, i) => ({
    serverGroup: `group-${i}`,
    reason: 'no answer yet',
  }));
  const waits = adminServer({ ready: () => false, waiting: () => waiting });
  const { port } = await waits.listen();
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    const lines = (await answer.text()).split('\n');
    assert.deepEqual(
      [answer.status, lines[0], lines[1], lines[10], lines.length],
      [503, 'not ready', 'group-0: waiting for discovery: no answer yet', 'and 3 more', 12],
    );
  } finally {
    await waits.stop();
  }
});

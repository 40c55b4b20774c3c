import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { adminSettings } from '../../support/configuration.ts';
import { adminServer } from '../../support/admin-server.ts';
import { TestCa } from '../../support/pki.ts';

/** More than sockets take on their way. */
const PAGE_BYTES = 64 * 1024 * 1024;
const REQUEST = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-shared-bytes-'));
});

after(() => rm(folder, { recursive: true, force: true }));

test('with TLS a slow reader is handed no more than it has room for, and the same bytes as others', async (t) => {
  const handed: unknown[] = [];
  for (const name of ['write', 'end'] as const) {
    const original = ServerResponse.prototype[name] as (...all: unknown[]) => unknown;
    t.mock.method(ServerResponse.prototype, name, function (this: ServerResponse, ...all: unknown[]) {
      if (all[0] !== undefined && all[0] !== null) handed.push(all[0]);
      return original.apply(this, all);
    });
  }
  const ca = await TestCa.create();
  const { cert, key } = await ca.issue({ ip: ['127.0.0.1'] });
  const [certFile, keyFile] = [join(folder, 'crt'), join(folder, 'key')] as const;
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  const server = adminServer({
    settings: adminSettings(0, { tls: { certFile, keyFile } }),
    metrics: () => Promise.resolve('x'.repeat(PAGE_BYTES)),
  });
  const { port } = await server.listen();
  t.after(() => server.stop());
  const ask = () => {
    const client = connectTls({ port, host: '127.0.0.1', ca: ca.cert }, () => client.write(REQUEST));
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

test('who has ended its own side, as nc does, is sent all of it', async (t) => {
  const server = adminServer({ metrics: () => Promise.resolve('x'.repeat(PAGE_BYTES)) });
  const { port } = await server.listen();
  t.after(() => server.stop());
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => client.end(REQUEST));
  t.after(() => client.destroy());
  client.resume();
  await once(client, 'end');
  assert.ok(client.bytesRead > PAGE_BYTES, `${client.bytesRead} bytes`);
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

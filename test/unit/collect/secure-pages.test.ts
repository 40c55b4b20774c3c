import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import type { TlsOptions } from 'node:tls';
import { AccessKeeper } from '../../../src/collect/access.ts';
import { OpeningGate } from '../../../src/collect/opening-gate.ts';
import { PageClient } from '../../../src/collect/page-client.ts';
import type { CollectSettings, CollectTls } from '../../../src/core/model/collect-settings.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { type Issued, TestCa, type Wanted } from '../../support/pki.ts';
import { RawServer, response } from '../../support/raw-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const PAGE = 'up 1\n';

let folder: string;
let ca: TestCa;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-secure-'));
  ca = await TestCa.create();
  await writeFile(file('ca.crt'), ca.cert);
});
after(async () => {
  await rm(folder, { recursive: true });
});

function file(name: string): string {
  return join(folder, name);
}

async function serve(
  t: TestContext,
  wanted: Wanted | Issued,
  options: TlsOptions = {},
  host = '127.0.0.1',
): Promise<RawServer> {
  const issued = 'cert' in wanted ? wanted : await ca.issue(wanted);
  const server = await RawServer.start((socket) => socket.write(response(PAGE)), host, {
    ...issued,
    ...options,
  });
  t.after(() => server.stop());
  return server;
}

function tlsOf(change: Partial<CollectTls> = {}): CollectTls {
  return {
    caFile: file('ca.crt'),
    serverName: undefined,
    certFile: undefined,
    keyFile: undefined,
    insecureSkipVerify: false,
    ...change,
  };
}

type Change = Partial<Omit<CollectSettings, 'tls'>> & { readonly tls?: Partial<CollectTls> };

function clientOf(t: TestContext, server: RawServer, change: Change = {}): PageClient {
  const tls = tlsOf(change.tls);
  const client = new PageClient(server.backend, collectSettings({ scheme: 'https', ...change, tls }));
  t.after(() => client.close());
  return client;
}

/** The page, or the reason why there is none. */
async function fetch(client: PageClient, signal = AbortSignal.timeout(5000)): Promise<string> {
  const result = await client.fetch(signal);
  return result.kind === 'page' ? Buffer.from(result.page).toString() : result.failure.message;
}

function headersOf(server: RawServer): readonly string[] {
  return (server.requests.at(-1) ?? '').split('\r\n');
}

test('a backend is known by its address: no name is asked for, and the connection is kept', async (t) => {
  const server = await serve(t, { ip: ['127.0.0.1'] });
  const client = clientOf(t, server);
  assert.equal(await fetch(client), PAGE);
  assert.equal(await fetch(client), PAGE);
  assert.deepEqual(server.handshakes, [{ name: '', resumed: false }]);
  assert.ok(headersOf(server).includes(`host: ${server.backend.id}`));
});

test('an IPv6 address', async (t) => {
  const server = await serve(t, { ip: ['::1'] }, {}, '::1');
  assert.equal(await fetch(clientOf(t, server)), PAGE);
  assert.deepEqual(server.handshakes, [{ name: '', resumed: false }]);
  assert.ok(headersOf(server).includes(`host: [::1]:${server.backend.port}`));
});

test('with Host it is known by that name', async (t) => {
  const server = await serve(t, { dns: ['vllm.example'] });
  assert.equal(await fetch(clientOf(t, server, { host: 'vllm.example' })), PAGE);
  assert.deepEqual(server.handshakes, [{ name: 'vllm.example', resumed: false }]);
  assert.ok(headersOf(server).includes('host: vllm.example'));
  assert.match(await fetch(clientOf(t, server)), /^TLS: .*does not match/);
});

test('with ServerName by that, whatever Host is', async (t) => {
  const server = await serve(t, { dns: ['vllm.example'] });
  const tls = { serverName: 'vllm.example' };
  assert.equal(await fetch(clientOf(t, server, { host: 'other.example', tls })), PAGE);
  assert.deepEqual(server.handshakes, [{ name: 'vllm.example', resumed: false }]);
  assert.ok(headersOf(server).includes('host: other.example'));
});

test('any certificate where none is verified', async (t) => {
  const server = await serve(t, await (await TestCa.create()).issue({ validHours: [-3, -1] }));
  assert.equal(await fetch(clientOf(t, server, { tls: { insecureSkipVerify: true } })), PAGE);
});

test('a client certificate', async (t) => {
  const server = await serve(
    t,
    { ip: ['127.0.0.1'] },
    { ca: ca.cert, requestCert: true, rejectUnauthorized: true },
  );
  const own = await ca.issue({ usage: 'client' });
  await writeFile(file('own.crt'), own.cert);
  await writeFile(file('own.key'), own.key);
  const tls = { certFile: file('own.crt'), keyFile: file('own.key') };
  assert.equal(await fetch(clientOf(t, server, { tls })), PAGE);
  const stranger = await (await TestCa.create('CN=other CA')).issue({ usage: 'client' });
  await writeFile(file('other.crt'), stranger.cert);
  await writeFile(file('other.key'), stranger.key);
  const other = { certFile: file('other.crt'), keyFile: file('other.key') };
  assert.match(await fetch(clientOf(t, server, { tls: other })), /^TLS: .*alert|^reset: /);
});

test('a POST to another port with headers and a token', async (t) => {
  const server = await serve(t, { ip: ['127.0.0.1'] });
  await writeFile(file('token'), 's3cr3t\n');
  const { port } = server.backend;
  const client = new PageClient(
    { ...server.backend, port: 1 },
    collectSettings({
      scheme: 'https',
      port,
      method: 'POST',
      bearerTokenFile: file('token'),
      headers: [{ name: 'X-Scope', value: 'a b', file: undefined }],
      tls: tlsOf(),
    }),
  );
  t.after(() => client.close());
  assert.equal(await fetch(client), PAGE);
  const [line, ...headers] = headersOf(server);
  assert.equal(line, 'POST /metrics HTTP/1.1');
  for (const header of [
    `host: 127.0.0.1:${port}`,
    'X-Scope: a b',
    'authorization: Bearer s3cr3t',
    'content-length: 0',
  ]) {
    assert.ok(headers.includes(header), `${header} in ${headers.join(', ')}`);
  }
});

test('a session is taken up again by the next connection', async (t) => {
  const server = await serve(t, { ip: ['127.0.0.1'] });
  const client = clientOf(t, server);
  await fetch(client);
  server.closeConnections();
  await waitFor('the connection is closed', () => server.open === 0);
  assert.equal(await fetch(client), PAGE);
  assert.deepEqual(
    server.handshakes.map(({ resumed }) => resumed),
    [false, true],
  );
});

test('new authorities count for new connections, and no session lives on under them', async (t) => {
  const server = await serve(t, { ip: ['127.0.0.1'] });
  await writeFile(file('changing.crt'), ca.cert);
  const client = clientOf(t, server, { tls: { caFile: file('changing.crt') } });
  assert.equal(await fetch(client), PAGE);
  await writeFile(file('changing.crt'), (await TestCa.create('CN=other CA')).cert);
  await waitFor('the backend is no longer trusted', async () => {
    server.closeConnections();
    return (await fetch(client)) === 'TLS: unable to verify the first certificate';
  });
});

test('the first fetch waits for the files, and no longer than it may', async (t) => {
  const server = await serve(t, { ip: ['127.0.0.1'] });
  assert.equal(
    await fetch(clientOf(t, server), AbortSignal.abort()),
    'timeout after 1 s: headers and certificates not read',
  );
});

test('a server without TLS', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const backend = { id: `127.0.0.1:${port}`, address: '127.0.0.1', port, weight: 100 };
  const client = new PageClient(backend, collectSettings({ scheme: 'https' }));
  t.after(() => client.close());
  assert.equal(await fetch(client), 'TLS: wrong version number, as of a server without TLS');
});

test('a handshake that nobody answers ends with the fetch, and lets others open theirs', async (t) => {
  const silent = await RawServer.start(() => undefined);
  t.after(() => silent.stop());
  const settings = collectSettings({ scheme: 'https' });
  const gate = new OpeningGate(1);
  const stuck = new PageClient(silent.backend, settings, { gate });
  t.after(() => stuck.close());
  assert.equal(await fetch(stuck, AbortSignal.timeout(300)), 'timeout after 1 s: no TLS');
  await waitFor('the connection is closed', () => silent.open === 0);

  const ending = new AbortController();
  const hanging = fetch(stuck, ending.signal);
  const server = await serve(t, { ip: ['127.0.0.1'] });
  const client = new PageClient(server.backend, { ...settings, tls: tlsOf() }, { gate });
  t.after(() => client.close());
  assert.equal(await fetch(client, AbortSignal.timeout(20_000)), PAGE, 'its turn comes after 3 s');
  ending.abort();
  await hanging;
});

test('backends share what is read from the files', async (t) => {
  const settings = collectSettings({ bearerTokenFile: file('shared') });
  await writeFile(file('shared'), 'first');
  const access = new AccessKeeper({ settings, clock: systemClock, log: silentLogger });
  t.after(() => access.close());
  const server = await RawServer.start((socket) => socket.write(response(PAGE)));
  t.after(() => server.stop());
  const clients = Array.from({ length: 3 }, () => new PageClient(server.backend, settings, { access }));
  t.after(() => Promise.all(clients.map((client) => client.close())));
  for (const token of ['first', 'second']) {
    await writeFile(file('shared'), token);
    await waitFor(`all send ${token}`, async () => {
      server.requests.length = 0;
      for (const client of clients) await fetch(client);
      return server.requests.every((request) => request.includes(`authorization: Bearer ${token}`));
    });
  }
  assert.equal(server.connections, 3);
});

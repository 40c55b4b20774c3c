import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { pino } from 'pino';
import type { AdminLimits, AdminOptions, AdminServer } from '../../../src/admin/server.ts';
import { explain } from '../../../src/commands/explain.ts';
import { top } from '../../../src/commands/top.ts';
import type { AdminSettings } from '../../../src/core/model/configuration.ts';
import { messageOf } from '../../../src/runtime/errors.ts';
import { adminServer } from '../../support/admin-server.ts';
import { adminSettings } from '../../support/configuration.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { TestCa } from '../../support/pki.ts';
import { waitFor } from '../../support/wait-for.ts';

const LIMITS: AdminLimits = { requestMs: 10_000, answerMs: 30_000, connections: 512 };
const SERVER_MODULE = new URL('../../support/admin-server.ts', import.meta.url).href;
const TOKEN = 'a-token-of-some-length';
const PROTECTED = [
  '/',
  '/state',
  '/events',
  '/trends/llama',
  '/samples',
  '/metrics',
  '/explain',
  '/explain/llama',
  '/assets/page.css',
  '/nothing',
];

let folder: string;
const log: string[] = [];
const servers: AdminServer[] = [];
const sockets: Socket[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-admin-'));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await rm(folder, { recursive: true });
});

async function start(
  change: Partial<AdminSettings> = {},
  options: Partial<AdminOptions> = {},
): Promise<number> {
  const server = adminServer({
    settings: adminSettings(0, change),
    log: pino({ base: null }, { write: (line) => log.push(line) }),
    ...options,
  });
  servers.push(server);
  return (await server.listen()).port;
}

/** A connection that asks that, and stays. */
function hold(port: number, text: string, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress }, () => socket.write(text));
  sockets.push(socket);
  return socket;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Asks and reads until the end; only the head of what does not end. */
function ask(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; ca?: string; localAddress?: string } = {},
): Promise<Answer> {
  const { ca } = options;
  const send = ca === undefined ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const to = { host: '127.0.0.1', port, path, agent: false, ...options };
    const sent = send(to, (response) => {
      let body = '';
      const done = (): void => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      };
      response.on('data', (chunk: Buffer) => (body += chunk.toString())).once('end', done);
      response.once('error', () => undefined);
      if (!['/events', '/samples'].includes(path) || response.statusCode !== 200) return;
      done();
      sent.destroy();
    });
    sent.once('error', reject).end();
  });
}

test('every answer carries headers that keep browsers from harm, and lets no other origin read', async () => {
  const port = await start();
  for (const path of [...PROTECTED, '/healthz', '/readyz']) {
    const { headers } = await ask(port, path, { headers: { origin: 'http://evil.example' } });
    assert.equal(headers['x-content-type-options'], 'nosniff', path);
    assert.match(
      String(headers['content-security-policy']),
      /default-src 'none'.*frame-ancestors 'none'/,
      path,
    );
    assert.equal(headers['referrer-policy'], 'no-referrer', path);
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path);
    assert.ok(!Object.keys(headers).some((name) => name.startsWith('access-control-')), path);
  }
});

test('only reading: every other method is refused, on every path', async () => {
  const port = await start();
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
    for (const path of ['/healthz', '/state', '/nothing']) {
      const { status, headers } = await ask(port, path, { method });
      assert.deepEqual([status, headers['allow']], [405, 'GET, HEAD'], `${method} ${path}`);
    }
  }
  assert.equal((await ask(port, '/events', { method: 'HEAD' })).status, 200);
});

test('a name that was pointed here (DNS rebinding) is refused; addresses, localhost and Admin.Hosts are not', async () => {
  const port = await start({ hosts: ['plimsoll.monitoring.svc'] });
  const statusOf = async (host: string, path = '/state'): Promise<number> =>
    (await ask(port, path, { headers: { host } })).status;
  for (const host of [
    '127.0.0.1',
    '10.2.3.4:9090',
    '[::1]:9090',
    '[2001:db8::1]',
    'localhost',
    'LocalHost:80',
    'Plimsoll.Monitoring.svc:9090',
    'plimsoll.monitoring.svc.',
  ]) {
    assert.equal(await statusOf(host), 200, host);
  }
  for (const host of [
    'evil.example',
    'evil.example:9090',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'monitoring.svc',
    '1.2.3',
    'a:b:c',
  ]) {
    assert.equal(await statusOf(host), 421, host);
    assert.equal(await statusOf(host, '/healthz'), 200, host);
  }
  const { body } = await ask(port, '/state', { headers: { host: 'evil.example' } });
  assert.match(body, /evil\.example is not known here: it has to stand in Admin\.Hosts/);
});

test('what a page of another origin asks for is refused, a link to here is not', async () => {
  const port = await start();
  const statusOf = async (headers: Record<string, string>): Promise<number> =>
    (await ask(port, '/events', { headers })).status;
  assert.equal(await statusOf({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }), 403);
  assert.equal(await statusOf({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }), 403);
  assert.equal(
    await statusOf({
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'iframe',
    }),
    403,
  );
  assert.equal(
    await statusOf({
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }),
    200,
  );
  assert.equal(await statusOf({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }), 200);
});

test('a token: everything but health and readiness asks for it; a new one counts at once', async () => {
  const bearerTokenFile = join(folder, 'token');
  await writeFile(bearerTokenFile, `${TOKEN}\n`);
  const port = await start({ bearerTokenFile });
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  const statusOf = async (path: string, authorization?: string): Promise<number> =>
    (await ask(port, path, { headers: authorization === undefined ? {} : { authorization } })).status;
  for (const path of PROTECTED) {
    const { status, headers, body } = await ask(port, path);
    assert.equal(status, 401, path);
    assert.match(String(headers['www-authenticate']), /Bearer.*Basic/);
    assert.doesNotMatch(body, /token-of/);
  }
  for (const wrong of [
    'Bearer x',
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    'Bearer',
    TOKEN,
    basic(TOKEN),
    basic(`${TOKEN}:`),
    'Basic %%%',
    `Digest ${TOKEN}`,
  ]) {
    assert.equal(await statusOf('/state', wrong), 401, wrong);
  }
  assert.deepEqual([await statusOf('/healthz'), await statusOf('/readyz')], [200, 200]);
  for (const right of [
    `Bearer ${TOKEN}`,
    `bearer  ${TOKEN}`,
    basic(`anybody:${TOKEN}`),
    basic(`:${TOKEN}`),
  ]) {
    assert.equal(await statusOf('/state', right), 200, right);
  }

  const another = 'another-token-of-some-length';
  await writeFile(join(folder, 'new'), another);
  await rename(join(folder, 'new'), bearerTokenFile);
  await waitFor('the new token', async () => (await statusOf('/state', `Bearer ${another}`)) === 200);
  assert.equal(await statusOf('/state', `Bearer ${TOKEN}`), 401);
  await writeFile(bearerTokenFile, 'short');
  await waitFor('the complaint', () => log.some((line) => line.includes('the token from before stays')));
  assert.equal(await statusOf('/state', `Bearer ${another}`), 200, 'a file that is no good changes nothing');
});

test('a token file that is no good: no start, and the reason', async () => {
  const bearerTokenFile = join(folder, 'token');
  const message = async (): Promise<string> => start({ bearerTokenFile }).then(() => 'started', messageOf);
  assert.match(await message(), /^Admin\.BearerTokenFile .*token: cannot be read: ENOENT/);
  for (const text of [
    '',
    'too-short',
    `${TOKEN} ${TOKEN}`,
    'x'.repeat(4097),
    `${TOKEN}\u0007`,
    'ä'.repeat(20),
  ]) {
    await writeFile(bearerTokenFile, text);
    assert.match(await message(), /must hold a token of 16\.\.4096 visible ASCII characters, no space$/);
  }
});

test('TLS, with certificates that are read again; commands get through with --ca and --bearer-token-file', async () => {
  const ca = await TestCa.create();
  const [certFile, keyFile, caFile, bearerTokenFile] = ['crt', 'key', 'ca', 'token'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  const put = async (issued: { cert: string; key: string }): Promise<void> => {
    await writeFile(certFile, issued.cert);
    await writeFile(keyFile, issued.key);
  };
  await put(await ca.issue({ ip: ['127.0.0.1'] }));
  await writeFile(caFile, ca.cert);
  await writeFile(bearerTokenFile, TOKEN);
  const port = await start({ tls: { certFile, keyFile }, bearerTokenFile });
  const authorization = `Bearer ${TOKEN}`;
  assert.equal((await ask(port, '/state', { ca: ca.cert, headers: { authorization } })).status, 200);
  await assert.rejects(ask(port, '/state'), 'plain text is not spoken');

  const run = async (flags: { ca?: string; bearerTokenFile?: string }): Promise<[number, string, string]> => {
    let [out, err] = ['', ''];
    const io = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
    const admin = `https://127.0.0.1:${port}`;
    const exit = await top(
      { admin, once: true, json: false, color: false, ...flags },
      { ...io, terminal: undefined, signal: new AbortController().signal },
    );
    await explain(
      { admin, group: 'llama', backend: undefined, json: false, color: false, columns: undefined, ...flags },
      io,
    );
    return [exit, out, err];
  };
  assert.match(
    (await run({ ca: caFile, bearerTokenFile })).join('\n'),
    /^0\nplimsoll 0\.0\.0.*\n[^]*explain: .*answered 404/,
  );
  assert.match(
    (await run({ ca: caFile }))[2],
    /top: .*answered 401: .*--bearer-token-file names a file with it\n.*explain: .*answered 401/,
  );
  assert.match((await run({ bearerTokenFile }))[2], /cannot be asked: .*certificate/);
  assert.deepEqual(
    [(await run({ ca: '/nowhere' }))[0], (await run({ bearerTokenFile: '/nowhere' }))[0]],
    [64, 64],
  );

  const other = await TestCa.create('CN=other');
  await put(await other.issue({ ip: ['127.0.0.1'] }));
  await waitFor('the new certificate', async () =>
    ask(port, '/healthz', { ca: other.cert }).then(
      () => true,
      () => false,
    ),
  );
});

test('event streams are limited', async () => {
  const port = await start();
  const open = (): Promise<{ socket: Socket; head: string }> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n'),
      );
      sockets.push(socket);
      socket.once('data', (chunk: Buffer) => {
        resolve({ socket, head: chunk.toString() });
      });
      socket.once('error', reject);
    });
  const streams = await Promise.all(Array.from({ length: 64 }, open));
  assert.ok(streams.every(({ head }) => head.startsWith('HTTP/1.1 200')));
  assert.match((await open()).head, /^HTTP\/1\.1 503[^]*64 event streams are open already/);
  streams[0]?.socket.destroy();
  await waitFor('room', async () => (await open()).head.startsWith('HTTP/1.1 200'));
});

test('a request that never ends, and a head that is too long', async () => {
  const port = await start({}, { limits: { ...LIMITS, requestMs: 200 } });
  const { status } = await ask(port, '/state', { headers: { padding: 'x'.repeat(20_000) } });
  assert.equal(status, 431);
  const idle = hold(port, 'GET /state HTTP/1.1\r\nHost: localhost\r\nX: ');
  const text = await new Promise<string>((resolve) => {
    let all = '';
    idle
      .on('data', (chunk: Buffer) => (all += chunk.toString()))
      .once('close', () => {
        resolve(all);
      });
  });
  assert.match(text, /^HTTP\/1\.1 408/);
});

test('a client that holds as many connections as there may be keeps nobody out: its oldest one goes', async () => {
  const port = await start({}, { limits: { ...LIMITS, connections: 4 } });
  const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
  // another client's, which came before all others
  const other = hold(port, request, '127.0.0.2');
  await once(other, 'data');
  const held: Socket[] = [];
  for (let i = 0; i < 3; i++) {
    const socket = hold(port, i === 0 ? 'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n' : request);
    held.push(socket);
    await once(socket, 'data');
  }
  const [first] = held as [Socket];
  const gone = once(
    first.on('error', () => undefined),
    'close',
  );
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    assert.equal((await ask(port, path, { localAddress: '127.0.0.3' })).status, 200, path);
  }
  await gone;
  other.write(request);
  await once(other, 'data');
});

test('idle connections leave files to open for all else', async () => {
  const script = `
    const [{ adminServer }, { connect }, { once }, { openSync }] = await Promise.all(
      ['${SERVER_MODULE}', 'node:net', 'node:events', 'node:fs'].map((module) => import(module)),
    );
    const server = adminServer();
    const { port } = await server.listen();
    const held = [];
    for (let i = 0; i < 40; i++) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      held.push(socket);
    }
    // those that are one too many end before a later one is answered
    const answer = await fetch('http://127.0.0.1:' + port + '/healthz');
    for (const socket of held) socket.resume();
    console.log(answer.status, held.filter(({ readyState }) => readyState === 'open').length);
    process.exit();
  `;
  const shell = `ulimit -n 128 && exec "$0" --import tsx --input-type=module -e "$1"`;
  const run = promisify(execFile)('sh', ['-c', shell, process.execPath, script]);
  assert.equal((await run).stdout.trim(), '200 15');
});

test('an answer that is not taken ends with its connection, a stream goes on', async () => {
  const clock = new FakeClock();
  const metrics = (): Promise<string> => Promise.resolve('x'.repeat(16 * 1024 * 1024));
  const port = await start({}, { clock, metrics });
  assert.equal((await ask(port, '/metrics')).body.length, 16 * 1024 * 1024);
  await waitFor('its end', () => clock.pending === 0);
  const events = hold(port, 'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(events, 'data');
  const slow = hold(port, 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n').pause();
  await waitFor('the answer', () => clock.pending === 2);
  const ended = once(slow, 'close');
  await clock.advance(30_000);
  slow.resume();
  await ended;
  assert.ok(slow.bytesRead < 16 * 1024 * 1024);
  assert.ok(!events.destroyed);
});

test('a path that is none is refused like everything else', async () => {
  const port = await start();
  const { status, headers, body } = await ask(port, '/trends/%zz<script>');
  assert.deepEqual([status, headers['x-content-type-options']], [400, 'nosniff']);
  assert.doesNotMatch(body, /script/);
});

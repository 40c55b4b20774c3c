import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { OpeningGate } from '../../../src/collect/opening-gate.ts';
import { PageClient } from '../../../src/collect/page-client.ts';
import type { PageResult } from '../../../src/collect/page-source.ts';
import { PAGE_BYTES_MAX } from '../../../src/core/limits.ts';
import type { Backend } from '../../../src/core/model/backend.ts';
import type { CollectSettings } from '../../../src/core/model/collect-settings.ts';
import { BlackHole } from '../../support/black-hole.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { freePort } from '../../support/ports.ts';
import { type RawAnswer, RawServer, response } from '../../support/raw-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const PAGE = 'up 1\n';
const good: RawAnswer = (socket) => socket.write(response(PAGE));

async function serve(t: TestContext, answer: RawAnswer, host?: string): Promise<RawServer> {
  const server = await RawServer.start(answer, host);
  t.after(() => server.stop());
  return server;
}

function clientOf(
  t: TestContext,
  backend: Backend,
  settings: Partial<CollectSettings> = {},
  gate?: OpeningGate,
): PageClient {
  const client = new PageClient(backend, collectSettings(settings), gate === undefined ? {} : { gate });
  t.after(() => client.close());
  return client;
}

function fetch(client: PageClient, deadlineMs = 5000): Promise<PageResult> {
  return client.fetch(AbortSignal.timeout(deadlineMs));
}

async function fetchText(client: PageClient): Promise<string> {
  const result = await fetch(client);
  return result.kind === 'page' ? Buffer.from(result.page).toString() : assert.fail(result.failure.message);
}

/** Writes `chunk` over and over, as fast as it is taken. */
function flood(socket: Socket, chunk: string | Buffer): void {
  while (!socket.destroyed && socket.write(chunk));
  socket.once('drain', () => flood(socket, chunk));
}

/** Writes a byte now and then until the other side has gone. */
function drip(socket: Socket, byte: string): void {
  const timer = setInterval(() => socket.write(byte), 20);
  socket.once('close', () => clearInterval(timer));
}

interface Failure {
  readonly what: string;
  readonly answer: RawAnswer;
  readonly kind: string;
  readonly message: RegExp;
  /** Only the deadline ends it. */
  readonly slow?: true;
  /** The connection is as good as before. */
  readonly kept?: true;
}

const head = (lines: readonly string[]): string => `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`;

const FAILURES: readonly Failure[] = [
  {
    what: 'a status of 500',
    answer: (socket) => socket.write(response('oops', [], '500 Internal Server Error')),
    kind: 'status',
    message: /^status 500$/,
    kept: true,
  },
  {
    what: 'a status of 204',
    answer: (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'),
    kind: 'status',
    message: /^status 204$/,
    kept: true,
  },
  {
    what: 'an endless body under a status of 404',
    answer: (socket) => {
      socket.write('HTTP/1.1 404 Not Found\r\n\r\n');
      flood(socket, 'x'.repeat(65_536));
    },
    kind: 'status',
    message: /^status 404$/,
  },
  {
    what: 'a slow body under a status of 503',
    answer: (socket) => {
      socket.write('HTTP/1.1 503 Service Unavailable\r\n\r\n');
      drip(socket, 'x');
    },
    kind: 'status',
    message: /^status 503$/,
    slow: true,
  },
  {
    what: 'HTML',
    answer: (socket) => socket.write(response('<html></html>', ['Content-Type: Text/HTML; charset=utf-8'])),
    kind: 'not_metrics',
    message: /^not metrics: text\/html$/,
    kept: true,
  },
  {
    what: 'a gzip body that was not asked for',
    answer: (socket) => socket.write(response(gzipSync(PAGE), ['content-encoding: gzip'])),
    kind: 'protocol',
    message: /^content-encoding gzip where identity was asked for$/,
    kept: true,
  },
  {
    what: 'more than 8 MiB of noise',
    answer: (socket) => {
      socket.write(head(['content-type: text/plain']));
      flood(socket, Buffer.alloc(65_536, 0xa7));
    },
    kind: 'too_large',
    message: /^too large: more than 8 MiB$/,
  },
  {
    what: 'an endless header',
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      flood(socket, `x: ${'y'.repeat(500)}\r\n`);
    },
    kind: 'too_large',
    message: /^too large: headers beyond 16 KiB$/,
  },
  {
    what: 'interim answers without end',
    answer: (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2000)),
    kind: 'protocol',
    message: /^not HTTP\/1\.1: more than 16 interim answers$/,
  },
  {
    what: 'a dripping header',
    answer: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx: ');
      drip(socket, 'y');
    },
    kind: 'timeout',
    message: /^timeout after 1 s: no answer$/,
    slow: true,
  },
  {
    what: 'a dripping body',
    answer: (socket) => {
      socket.write(head(['content-length: 100000']));
      drip(socket, '#');
    },
    kind: 'timeout',
    message: /^timeout after 1 s: page incomplete$/,
    slow: true,
  },
  {
    what: 'silence',
    answer: () => undefined,
    kind: 'timeout',
    message: /^timeout after 1 s: no answer$/,
    slow: true,
  },
  {
    what: 'a close instead of an answer',
    answer: (socket) => socket.end(),
    kind: 'reset',
    message: /^reset: other side closed$/,
  },
  {
    what: 'a reset instead of an answer',
    answer: (socket) => socket.resetAndDestroy(),
    kind: 'reset',
    message: /^reset: read ECONNRESET$/,
  },
  {
    what: 'a reset in the body',
    answer: (socket) => {
      socket.write(`${head(['content-length: 100'])}up 1`, () =>
        setTimeout(() => socket.resetAndDestroy(), 20),
      );
    },
    kind: 'reset',
    message: /^reset: /,
  },
  {
    what: 'a reset in a body that only the end of the connection delimits',
    answer: (socket) => {
      socket.write(`${head(['connection: close'])}up 1`, () =>
        setTimeout(() => socket.resetAndDestroy(), 20),
      );
    },
    kind: 'reset',
    message: /^reset: (read ECONNRESET|the page ends within a line)$/,
  },
  {
    what: 'a body shorter than its Content-Length',
    answer: (socket) => socket.end(`${head(['content-length: 100'])}up 1\n`),
    kind: 'reset',
    message: /^reset: other side closed$/,
  },
  {
    what: 'a body shorter than its Content-Length, closed as announced',
    answer: (socket) => socket.end(`${head(['content-length: 100', 'connection: close'])}up 1\n`),
    kind: 'protocol',
    message: /content-length/,
  },
  {
    what: 'two lengths',
    answer: (socket) => socket.write(`${head(['content-length: 5', 'content-length: 6'])}up 12\n`),
    kind: 'protocol',
    message: /content-length/,
  },
  {
    what: 'a broken chunk',
    answer: (socket) => socket.write(`${head(['transfer-encoding: chunked'])}zz\r\nup 1\r\n`),
    kind: 'protocol',
    message: /^not HTTP\/1\.1: .*chunk size/,
  },
  {
    what: 'another protocol',
    answer: (socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n'),
    kind: 'protocol',
    message: /^not HTTP\/1\.1: /,
  },
  {
    what: 'an upgrade that nobody asked for',
    answer: (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    kind: 'protocol',
    message: /^not HTTP\/1\.1: bad upgrade$/,
  },
];

function testFailure({ what, answer, kind, message, slow, kept }: Failure): void {
  test(what, async (t) => {
    const server = await serve(t, answer);
    const client = clientOf(t, server.backend);
    const result = await fetch(client, slow === undefined ? 5000 : 300);
    assert.ok(result.kind === 'failure');
    assert.equal(result.failure.kind, kind);
    assert.match(result.failure.message, message);
    if (kept === undefined) await waitFor('the connection is given up', () => server.open === 0);
    server.answer = good;
    assert.equal(await fetchText(client), PAGE);
    assert.equal(server.connections, kept === undefined ? 2 : 1);
  });
}

// apart from the others, which keep the process too busy for so short a deadline
describe('a slow answer has a reason, and the next fetch is free of it', { concurrency: true }, () => {
  for (const failure of FAILURES) if (failure.slow) testFailure(failure);
});

describe('a failure has a reason, and the next fetch is free of it', { concurrency: true }, () => {
  for (const failure of FAILURES) if (!failure.slow) testFailure(failure);

  test('nobody listens', async (t) => {
    const port = await freePort();
    const client = clientOf(t, { id: `127.0.0.1:${port}`, address: '127.0.0.1', port, weight: 100 });
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(await fetch(client), {
        kind: 'failure',
        failure: { kind: 'refused', message: 'refused' },
      });
    }
  });

  test('a connection that does not open in 3 s, whatever the deadline, and others get its turn', async (t) => {
    const hole = await BlackHole.start();
    t.after(() => hole.stop());
    const { port } = hole;
    const gate = new OpeningGate(1);
    const lost = clientOf(
      t,
      { id: `127.0.0.1:${port}`, address: '127.0.0.1', port, weight: 100 },
      { timeoutSeconds: 300 },
      gate,
    );
    const opening = fetch(lost, 30_000);
    const server = await serve(t, good);
    const page = clientOf(t, server.backend, {}, gate).fetch(AbortSignal.timeout(30_000));
    assert.deepEqual(await opening, {
      kind: 'failure',
      failure: { kind: 'timeout', message: 'timeout: no connection within 3 s' },
    });
    assert.equal((await page).kind, 'page');
  });

  test('the turn to open a connection does not come in time', async (t) => {
    const gate = new OpeningGate(1);
    const leave = await gate.enter(new AbortController().signal);
    const server = await serve(t, good);
    const client = clientOf(t, server.backend, {}, gate);
    assert.deepEqual(await fetch(client, 100), {
      kind: 'failure',
      failure: { kind: 'timeout', message: 'timeout after 1 s: no connection' },
    });
    assert.equal(server.connections, 0);
    leave?.();
    assert.equal(await fetchText(client), PAGE);
  });
});

describe('an answer that never begins or ends, and has no page to count', () => {
  for (const [what, first, chunk] of [
    ['an endless chunk extension', `${head(['transfer-encoding: chunked'])}1;`, 'x=y;'],
    ['empty lines without end', '', '\r\n'],
    ['an endless status line', 'HTTP/1.1 200 ', 'K'],
  ] as const) {
    test(what, async (t) => {
      const server = await serve(t, (socket) => {
        socket.write(first);
        flood(socket, chunk.repeat(16_384));
      });
      assert.deepEqual(await fetch(clientOf(t, server.backend), 30_000), {
        kind: 'failure',
        failure: { kind: 'too_large', message: 'too large: more than 8 MiB' },
      });
      await waitFor('the connection is given up', () => server.open === 0);
    });
  }
});

describe('the request', () => {
  const headers = (request: string): readonly string[] => request.toLowerCase().split('\r\n');

  test('is a GET with the address as host, and asks for plain text without encoding', async (t) => {
    const server = await serve(t, good);
    await fetchText(clientOf(t, server.backend));
    const [line, ...rest] = headers(server.requests[0] ?? '');
    assert.equal(line, 'get /metrics http/1.1');
    assert.ok(rest.includes(`host: ${server.backend.id}`));
    assert.ok(rest.includes('accept-encoding: identity'));
    assert.ok(rest.includes('accept: text/plain;version=0.0.4;q=1,*/*;q=0.1'));
  });

  test('has the host, the path and the method of the settings', async (t) => {
    const server = await serve(t, good);
    const settings = { host: 'llama.example', path: '/a/b?c=d', method: 'POST' } as const;
    await fetchText(clientOf(t, server.backend, settings));
    const [line, ...rest] = headers(server.requests[0] ?? '');
    assert.equal(line, 'post /a/b?c=d http/1.1');
    assert.deepEqual(
      rest.filter((header) => header.startsWith('host:')),
      ['host: llama.example'],
    );
    assert.ok(rest.includes('content-length: 0'));
  });

  test('goes to an IPv6 address, in brackets where it is the host', async (t) => {
    const server = await serve(t, good, '::1');
    assert.equal(await fetchText(clientOf(t, server.backend)), PAGE);
    assert.ok(headers(server.requests[0] ?? '').includes(`host: [::1]:${server.backend.port}`));
  });

  test('does not follow a redirect', async (t) => {
    const target = await serve(t, good);
    const server = await serve(t, (socket) =>
      socket.write(response('', [`location: http://${target.backend.id}/metrics`], '302 Found')),
    );
    assert.deepEqual(await fetch(clientOf(t, server.backend)), {
      kind: 'failure',
      failure: { kind: 'status', message: 'status 302' },
    });
    assert.equal(target.connections, 0);
  });

  test('takes no proxy from the environment', async (t) => {
    const proxy = await serve(t, (socket) => socket.write(response('proxy 1\n')));
    const names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = `http://${proxy.backend.id}`;
    t.after(() => {
      for (const [index, name] of names.entries()) {
        const value = before[index];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });
    const server = await serve(t, good);
    assert.equal(await fetchText(clientOf(t, server.backend)), PAGE);
    assert.equal(proxy.connections, 0);
  });
});

describe('the page', () => {
  test('may have 8 MiB', async (t) => {
    const server = await serve(t, (socket) => socket.write(response('#'.repeat(PAGE_BYTES_MAX))));
    assert.equal((await fetchText(clientOf(t, server.backend))).length, PAGE_BYTES_MAX);
  });

  test('may come in chunks, without a length, or after an interim answer', async (t) => {
    const client = async (answer: string, end: boolean): Promise<string> => {
      const server = await serve(t, (socket) => (end ? socket.end(answer) : socket.write(answer)));
      return fetchText(clientOf(t, server.backend));
    };
    assert.equal(
      await client(`${head(['transfer-encoding: chunked'])}3\r\nup \r\n2\r\n1\n\r\n0\r\n\r\n`, false),
      PAGE,
    );
    assert.equal(await client(`${head(['connection: close'])}${PAGE}`, true), PAGE);
    assert.equal(await client(`HTTP/1.0 200 OK\r\n\r\n${PAGE}`, true), PAGE);
    assert.equal(
      await client(`HTTP/1.1 103 Early Hints\r\n\r\n${head(['content-length: 5'])}${PAGE}`, false),
      PAGE,
    );
  });
});

describe('the connection', () => {
  test('is kept, also after an answer that is not used', async (t) => {
    const server = await serve(t, good);
    const client = clientOf(t, server.backend);
    await fetchText(client);
    server.answer = (socket) => socket.write(response('starting', [], '503 Service Unavailable'));
    await fetch(client);
    server.answer = good;
    await fetchText(client);
    assert.equal(server.requests.length, 3);
    assert.equal(server.connections, 1);
  });

  test('is opened anew when the server closed it between two fetches', async (t) => {
    const server = await serve(t, good);
    const client = clientOf(t, server.backend);
    await fetchText(client);
    server.closeConnections();
    await waitFor('the connection is closed', () => server.open === 0);
    assert.equal(await fetchText(client), PAGE);
    assert.equal(server.connections, 2);
  });

  for (const how of ['end', 'resetAndDestroy'] as const) {
    test(`is opened anew, and no fetch fails, when the server closes it as it is used again: ${how}`, async (t) => {
      const server = await serve(t, good);
      const client = clientOf(t, server.backend);
      await fetchText(client);
      server.answer = (socket) => {
        server.answer = good;
        socket[how]();
      };
      assert.equal(await fetchText(client), PAGE);
      assert.equal(server.connections, 2);
      assert.equal(server.requests.length, 3);
    });
  }

  test('that is new is not tried again, and one that breaks twice is a failure', async (t) => {
    const server = await serve(t, good);
    const client = clientOf(t, server.backend);
    await fetchText(client);
    server.answer = (socket) => socket.resetAndDestroy();
    const result = await fetch(client);
    assert.ok(result.kind === 'failure');
    assert.equal(result.failure.kind, 'reset');
    assert.equal(server.requests.length, 3);
    await fetch(client);
    assert.equal(server.requests.length, 4);
  });

  test('is closed with the client', async (t) => {
    const server = await serve(t, good);
    const client = new PageClient(server.backend, collectSettings());
    await fetchText(client);
    assert.equal(server.open, 1);
    await client.close();
    await waitFor('the connection is closed', () => server.open === 0);
  });
});

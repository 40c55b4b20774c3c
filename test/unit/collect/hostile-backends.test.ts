import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TlsOptions } from 'node:tls';
import { Collector } from '../../../src/collect/collector.ts';
import type { BackendId } from '../../../src/core/model/backend.ts';
import type { CollectSettings } from '../../../src/core/model/collect-settings.ts';
import type { CollectOutcome, CollectRun } from '../../../src/core/model/collection.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { TestCa } from '../../support/pki.ts';
import { type RawAnswer, RawServer, response } from '../../support/raw-server.ts';
import { waitFor } from '../../support/wait-for.ts';

/** What a backend does, and in what each collection of it ends: `kind: message`. */
interface Hostile {
  readonly what: string;
  readonly answer: RawAnswer;
  readonly tls?: TlsOptions;
  readonly ends: RegExp;
}

const PAGE = 'vllm:num_requests_waiting 3\n';
const good: RawAnswer = (socket) => socket.write(response(PAGE));
const bytes =
  (text: string | Buffer): RawAnswer =>
  (socket) =>
    void socket.write(text);
const head = (...lines: readonly string[]): string => `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`;

/** `first`, then `chunk` over and over, as fast as it is taken. */
function flood(first: string, chunk: string): RawAnswer {
  const block = Buffer.from(chunk.repeat(Math.ceil(65_536 / chunk.length)));
  const write = (socket: Socket): void => {
    while (!socket.destroyed && socket.write(block));
    socket.once('drain', () => write(socket));
  };
  return (socket) => {
    socket.write(first);
    write(socket);
  };
}

/** `first`, then a byte now and then. */
function drip(first: string, byte: string): RawAnswer {
  return (socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(byte), 100);
    socket.once('close', () => clearInterval(timer));
  };
}

function million(): string {
  return Array.from({ length: 1_000_000 }, (_, index) => `a${index} 1\n`)
    .join('')
    .slice(0, 8_000_000);
}

/** A flood is cut off by its size, or by Timeout where so many floods at once are slow. */
const OVER =
  /^(too_large: too large: more than 8 MiB|too_large: .*headers beyond 16 KiB|timeout: timeout after 1 s: .*)$/;

const FLOODS: readonly Hostile[] = [
  {
    what: 'an endless body',
    answer: flood(head('x: y'), '# x\n'),
    ends: OVER,
  },
  {
    what: 'endless headers',
    answer: flood('HTTP/1.1 200 OK\r\n', 'x: y\r\n'),
    ends: /^too_large: .*headers beyond 16 KiB$/,
  },
  {
    what: 'one endless header',
    answer: flood('HTTP/1.1 200 OK\r\nx: ', 'y'),
    ends: /^too_large: .*headers beyond 16 KiB$/,
  },
  { what: 'an endless status line', answer: flood('HTTP/1.1 200 ', 'K'), ends: OVER },
  {
    what: 'a gigabyte announced, and sent',
    answer: flood(head('content-length: 1000000000'), '# x\n'),
    ends: OVER,
  },
  {
    what: 'an endless chunk extension',
    answer: flood(`${head('transfer-encoding: chunked')}1;`, 'x=y;'),
    ends: OVER,
  },
  {
    what: 'chunks without an end',
    answer: flood(head('transfer-encoding: chunked'), '4\r\n# x\n\r\n'),
    ends: OVER,
  },
  {
    what: 'endless trailers',
    answer: flood(`${head('transfer-encoding: chunked')}0\r\n`, 'x: y\r\n'),
    ends: OVER,
  },
  {
    what: 'interim answers without end',
    answer: flood('', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'),
    ends: /^protocol: .*more than 16 interim answers$/,
  },
  {
    what: 'leave to go on without end',
    answer: flood('', 'HTTP/1.1 100 Continue\r\n\r\n'),
    ends: /^protocol: not HTTP\/1\.1: bad response$/,
  },
  { what: 'empty lines without end', answer: flood('', '\r\n'), ends: OVER },
];

const PLAIN: readonly Hostile[] = [
  { what: 'nothing at all', answer: () => undefined, ends: /^timeout: timeout after 1 s: no answer$/ },
  {
    what: 'a byte now and then',
    answer: drip(head('content-length: 1000'), '#'),
    ends: /^timeout: timeout after 1 s: page incomplete$/,
  },
  {
    what: 'a header byte now and then',
    answer: drip('HTTP/1.1 200 OK\r\nx: ', 'y'),
    ends: /^timeout: .*: no answer$/,
  },
  {
    what: 'a gigabyte announced, and some of it',
    answer: bytes(`${head('content-length: 1000000000')}${PAGE}`),
    ends: /^timeout: .*: page incomplete$/,
  },
  {
    what: 'a length of many digits',
    answer: bytes(`${head(`content-length: ${'9'.repeat(400)}`)}${PAGE}`),
    ends: /^protocol: not HTTP\/1\.1: /,
  },
  {
    what: 'a body longer than its length',
    answer: bytes(`${head('content-length: 5')}# no\n${PAGE}`),
    ends: /^(metric_absent|not_metrics|protocol|reset): /,
  },
  {
    what: 'a body shorter than its length',
    answer: (socket) => socket.end(`${head('content-length: 500')}${PAGE}`),
    ends: /^reset: reset: other side closed$/,
  },
  {
    what: 'two lengths',
    answer: bytes(`${head('content-length: 28', 'content-length: 29')}${PAGE} `),
    ends: /^protocol: /,
  },
  {
    what: 'a length beside chunks',
    answer: bytes(`${head('content-length: 28', 'transfer-encoding: chunked')}1c\r\n${PAGE}\r\n0\r\n\r\n`),
    ends: /^protocol: /,
  },
  {
    what: 'chunks of nonsense',
    answer: bytes(`${head('transfer-encoding: chunked')}-5\r\n${PAGE}\r\n`),
    ends: /^protocol: not HTTP\/1\.1: /,
  },
  {
    what: 'a chunk of astronomic size',
    answer: bytes(`${head('transfer-encoding: chunked')}${'f'.repeat(64)}\r\n${PAGE}\r\n`),
    ends: /^protocol: not HTTP\/1\.1: /,
  },
  {
    what: 'a reset in the body',
    answer: (socket) => {
      socket.write(`${head('content-length: 100')}# x\n`, () =>
        setTimeout(() => socket.resetAndDestroy(), 20),
      );
    },
    ends: /^reset: /,
  },
  {
    what: 'a close instead of an answer',
    answer: (socket) => socket.end(),
    ends: /^reset: reset: other side closed$/,
  },
  { what: 'HTTP/0.9', answer: (socket) => socket.end(PAGE), ends: /^protocol: not HTTP\/1\.1: / },
  { what: 'HTTP/2', answer: bytes('\0\0\x12\x04\0\0\0\0\0'), ends: /^protocol: not HTTP\/1\.1: / },
  { what: 'another status', answer: bytes(response(PAGE, [], '500 No')), ends: /^status: status 500$/ },
  { what: 'no content', answer: bytes('HTTP/1.1 204 No Content\r\n\r\n'), ends: /^status: status 204$/ },
  {
    what: 'a redirect',
    answer: bytes(response('', ['location: http://169.254.169.254/latest/meta-data'], '302 Found')),
    ends: /^status: status 302$/,
  },
  { what: 'HTML', answer: bytes(response('<p>', ['content-type: text/html'])), ends: /^not_metrics: / },
  { what: 'an empty page', answer: bytes(response('')), ends: /^(metric_absent|not_metrics): / },
  {
    what: 'noise',
    answer: bytes(response(Buffer.alloc(100_000, 0xa7))),
    ends: /^(metric_absent|not_metrics): /,
  },
  {
    what: 'a million series',
    answer: bytes(response(million())),
    ends: /^(metric_absent: |too_large: |timeout: timeout after 1 s: )/,
  },
  {
    what: 'a value of 400 digits',
    answer: bytes(response(`vllm:num_requests_waiting ${'9'.repeat(400)}\n`)),
    ends: /^not_a_number: .{0,300}$/,
  },
];

/** A collector of hostile backends and a good one, until each has been collected twice. */
class Siege {
  readonly #outcomes = new Map<BackendId, CollectOutcome[]>();
  readonly #servers: (Hostile & { readonly server: RawServer })[] = [];
  readonly #good: RawServer;
  readonly #collector: Collector;
  #mostBuffered = 0;

  static async begin(
    hostile: readonly Hostile[],
    settings: Partial<CollectSettings> = {},
    tls?: TlsOptions,
  ): Promise<Siege> {
    const siege = new Siege(await RawServer.start(good, '127.0.0.1', tls), settings);
    for (const one of hostile) {
      siege.#servers.push({ ...one, server: await RawServer.start(one.answer, '127.0.0.1', one.tls) });
    }
    siege.#run();
    return siege;
  }

  private constructor(goodServer: RawServer, settings: Partial<CollectSettings>) {
    this.#good = goodServer;
    this.#collector = new Collector({
      settings: collectSettings({ intervalSeconds: 0.5, ...settings }),
      requiredScorers: ['TotalQueuedRequests'],
      clock: systemClock,
      log: silentLogger,
    });
  }

  #run(): void {
    const backends = this.#servers.map(({ server }) => server.backend);
    this.#collector.setBackends([this.#good.backend, ...backends]);
    this.#collector.start((run) => {
      this.#take(run);
    });
  }

  #take({ outcomes }: CollectRun): void {
    for (const [id, outcome] of outcomes) {
      this.#outcomes.set(id, [...(this.#outcomes.get(id) ?? []), outcome]);
    }
    this.#mostBuffered = Math.max(this.#mostBuffered, process.memoryUsage().arrayBuffers);
  }

  #of(server: RawServer): readonly CollectOutcome[] {
    return this.#outcomes.get(server.backend.id) ?? [];
  }

  async collected(): Promise<void> {
    await waitFor(
      'each was collected twice',
      () => this.#servers.every(({ server }) => this.#of(server).length >= 2),
      30_000,
    );
  }

  /** What the collections of each ended in, where that is another than is due. */
  get wrongEnds(): readonly string[] {
    return this.#servers.flatMap(({ what, server, ends }) =>
      this.#of(server)
        .map((outcome) =>
          outcome.kind === 'failure' ? `${outcome.failure.kind}: ${outcome.failure.message}` : outcome.kind,
        )
        .filter((end) => !ends.test(end))
        .map((end) => `${what}: ${end}`),
    );
  }

  /** How long the longest collection took. */
  get longestMs(): number {
    return Math.max(...[...this.#outcomes.values()].flat().map(({ durationMs }) => durationMs));
  }

  get ofGood(): readonly CollectOutcome[] {
    return this.#of(this.#good);
  }

  get mostBufferedBytes(): number {
    return this.#mostBuffered;
  }

  async end(): Promise<void> {
    await this.#collector.stop();
    const servers = [this.#good, ...this.#servers.map(({ server }) => server)];
    await waitFor('every connection is closed', () => servers.every(({ open }) => open === 0));
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Each collection of a hostile backend has ended as it is due, and nobody else has noticed. */
async function withstand(siege: Siege): Promise<void> {
  try {
    await siege.collected();
    assert.deepEqual(siege.wrongEnds, []);
    // Timeout, and what a busy machine takes to come to it
    assert.ok(siege.longestMs < 6000, `a collection took ${siege.longestMs} ms`);
    assert.ok(siege.ofGood.length >= 2);
    assert.deepEqual([...new Set(siege.ofGood.map(({ kind }) => kind))], ['sample']);
    // as much as the few pages of 8 MiB that are read at a time, twice
    assert.ok(siege.mostBufferedBytes < 300e6, `${siege.mostBufferedBytes} bytes of buffers`);
  } finally {
    await siege.end();
  }
}

test('backends that answer amiss', async () => {
  await withstand(await Siege.begin(PLAIN));
});

test('backends that never stop', async () => {
  await withstand(await Siege.begin(FLOODS));
});

describe('over TLS', () => {
  let folder: string;
  let ca: TestCa;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plimsoll-hostile-'));
    ca = await TestCa.create();
    await writeFile(join(folder, 'ca.crt'), ca.cert);
  });
  after(async () => {
    await rm(folder, { recursive: true });
  });

  const settings = (): Partial<CollectSettings> => ({
    scheme: 'https',
    tls: {
      caFile: join(folder, 'ca.crt'),
      serverName: undefined,
      certFile: undefined,
      keyFile: undefined,
      insecureSkipVerify: false,
    },
  });

  test('backends that are not who they should be, or speak something else', async () => {
    const here = { ip: ['127.0.0.1'] };
    const issued = await ca.issue(here);
    const other = await TestCa.create('CN=other CA');
    const hostile: readonly Hostile[] = [
      {
        what: 'an expired certificate',
        answer: good,
        tls: await ca.issue({ ...here, validHours: [-3, -1] }),
        ends: /^tls: TLS: certificate has expired$/,
      },
      {
        what: 'a certificate of tomorrow',
        answer: good,
        tls: await ca.issue({ ...here, validHours: [2, 90] }),
        ends: /^tls: TLS: certificate is not yet valid$/,
      },
      {
        what: 'another address',
        answer: good,
        tls: await ca.issue({ ip: ['127.0.0.2'] }),
        ends: /^tls: TLS: .*does not match certificate's altnames: IP: 127\.0\.0\.1 is not in/,
      },
      {
        what: 'ten thousand other names',
        answer: good,
        tls: await ca.issue({ dns: Array.from({ length: 1000 }, (_, index) => `a${index}.example`) }),
        ends: /^tls: .{1,250}$/,
      },
      {
        what: 'another authority',
        answer: good,
        tls: await other.issue(here),
        ends: /^tls: TLS: unable to verify the first certificate$/,
      },
      {
        what: "a client's certificate",
        answer: good,
        tls: await ca.issue({ ...here, usage: 'client' }),
        ends: /^tls: TLS: un(suitable|supported) certificate purpose$/,
      },
      {
        what: 'asks for a certificate',
        answer: good,
        tls: { ...issued, ca: ca.cert, requestCert: true, rejectUnauthorized: true },
        ends: /^(tls: TLS: .*certificate required|reset: .*)$/,
      },
      {
        what: 'TLS 1.1 at most',
        answer: good,
        tls: { ...issued, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
        ends: /^tls: TLS: .*(alert|version)/,
      },
      { what: 'no TLS', answer: bytes(response(PAGE)), ends: /^timeout: .*: no TLS$/ },
      {
        what: 'an endless page over TLS',
        answer: flood(head('x: y'), '# x\n'),
        tls: issued,
        ends: OVER,
      },
      {
        what: 'a reset in the body, over TLS',
        answer: (socket) => {
          socket.write(`${head('content-length: 100')}# x\n`, () => setTimeout(() => socket.destroy(), 20));
        },
        tls: issued,
        ends: /^reset: /,
      },
    ];
    await withstand(await Siege.begin(hostile, settings(), issued));
  });

  test('backends that speak TLS where none is expected', async () => {
    const tls = await ca.issue({ ip: ['127.0.0.1'] });
    await withstand(
      await Siege.begin([{ what: 'TLS', answer: good, tls, ends: /^(reset|protocol): (reset|not HTTP)/ }]),
    );
  });
});

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Dns, type DnsAnswer, DnsServers } from '../../../src/discovery/dns-client.ts';
import { type DnsReply, DnsServer } from '../../support/dns-server.ts';
import { freePort } from '../../support/ports.ts';

const never = new AbortController().signal;
let server: DnsServer;
let other: DnsServer;

before(async () => {
  [server, other] = await Promise.all([DnsServer.start(), DnsServer.start()]);
});
afterEach(() => {
  for (const one of [server, other]) {
    one.always = undefined;
    one.queries.length = 0;
  }
});
after(async () => {
  await Promise.all([server.stop(), other.stop()]);
});

const ask = (): Dns => new DnsServers([server.address]).session(never);
/** Does not wait long for one that says nothing. */
const askHastily = (servers: readonly string[] = [server.address]): Dns =>
  new DnsServers(servers, { tryMs: 100 }).session(never);

/** What is wrong, without whom it was asked. */
function reasonOf(answer: DnsAnswer<unknown>): string {
  return answer.kind === 'failed' ? answer.reason.replace(/^(.* of .*: )?127.0.0.1:\d+: /, '') : answer.kind;
}

test('addresses of both families with their shortest TTL', async () => {
  server.addresses('vllm.test', ['127.0.0.1', '127.0.0.2', '::1'], 9);
  assert.deepEqual(await ask().addresses('vllm.test', 4), {
    kind: 'records',
    records: ['127.0.0.1', '127.0.0.2'],
    ttlSeconds: 9,
  });
  assert.deepEqual(await ask().addresses('VLLM.test.', 6), {
    kind: 'records',
    records: ['::1'],
    ttlSeconds: 9,
  });
});

test('a fleet that does not fit into a datagram is asked for over TCP', async () => {
  for (const count of [200, 2500]) {
    const addresses = Array.from({ length: count }, (_, index) => `127.1.${index >> 8}.${index & 255}`);
    server.addresses('vllm.test', addresses, 9);
    server.queries.length = 0;
    const answer = await ask().addresses('vllm.test', 4);
    assert.deepEqual(answer, { kind: 'records', records: addresses, ttlSeconds: 9 });
    assert.deepEqual(server.queries, ['udp A vllm.test', 'tcp A vllm.test']);
  }
});

test('SRV records as they are', async () => {
  server.services('_http._tcp.vllm.test', [
    { priority: 65_535, weight: 65_535, port: 65_535, target: 'a.test' },
    { priority: 0, weight: 0, port: 0, target: '.' },
  ]);
  assert.deepEqual(await ask().services('_http._tcp.vllm.test'), {
    kind: 'records',
    records: [
      { priority: 65_535, weight: 65_535, port: 65_535, target: 'a.test' },
      { priority: 0, weight: 0, port: 0, target: '' },
    ],
    ttlSeconds: undefined,
  });
});

test('a name that does not exist, and one without data of the type, have none', async () => {
  server.addresses('v4.test', ['127.0.0.1']);
  for (const [name, family] of [
    ['nowhere.test', 4],
    ['v4.test', 6],
  ] as const) {
    assert.deepEqual(await ask().addresses(name, family), { kind: 'none' });
  }
  assert.deepEqual(await ask().services('v4.test'), { kind: 'none' });
});

test('aliases are followed with their TTL; one that leads nowhere, or round, has none', async () => {
  const alias = (name: string, data: string) => ({ type: 'CNAME', name, data, ttl: 3 }) as const;
  const answer = async (...records: Extract<DnsReply, { kind: 'records' }>['records']) => {
    server.set('vllm.test', 'A', { kind: 'records', records });
    return ask().addresses('vllm.test', 4);
  };
  assert.deepEqual(
    await answer(alias('vllm.test', 'b.test'), { type: 'A', name: 'b.test', data: '127.0.0.1', ttl: 60 }),
    { kind: 'records', records: ['127.0.0.1'], ttlSeconds: 3 },
  );
  assert.deepEqual(await answer(alias('vllm.test', 'b.test')), { kind: 'none' });
  assert.deepEqual(await answer(alias('vllm.test', 'b.test'), alias('b.test', 'vllm.test')), {
    kind: 'none',
  });
});

test("another name's records are believed, another type's are none", async () => {
  server.set('vllm.test', 'A', {
    kind: 'records',
    records: [{ type: 'A', name: 'other.test', data: '127.0.0.9', ttl: 1 }],
  });
  assert.deepEqual(await ask().addresses('vllm.test', 4), {
    kind: 'records',
    records: ['127.0.0.9'],
    ttlSeconds: 1,
  });
  server.set('vllm.test', 'A', {
    kind: 'records',
    records: [{ type: 'AAAA', name: 'vllm.test', data: '::1', ttl: 1 }],
  });
  assert.deepEqual(await ask().addresses('vllm.test', 4), { kind: 'none' });
});

/** An answer that ends in the middle of its records. */
function half(question: Buffer): Buffer {
  const header = Buffer.from([0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0]);
  return Buffer.concat([question.subarray(0, 2), header, question.subarray(12), Buffer.from('half')]);
}

const FAILURES: readonly { readonly name: string; readonly reply: DnsReply; readonly reason: string }[] = [
  { name: 'SERVFAIL', reply: { kind: 'code', code: 'SERVFAIL' }, reason: 'SERVFAIL' },
  { name: 'REFUSED', reply: { kind: 'code', code: 'REFUSED' }, reason: 'REFUSED' },
  { name: 'NOTIMP', reply: { kind: 'code', code: 'NOTIMP' }, reason: 'NOTIMP' },
  { name: 'silence', reply: { kind: 'drop' }, reason: 'no answer' },
  {
    name: 'garbage',
    reply: { kind: 'bytes', bytes: () => Buffer.from('no message of DNS') },
    reason: 'an answer that cannot be read',
  },
  { name: 'half an answer', reply: { kind: 'bytes', bytes: half }, reason: 'an answer that cannot be read' },
];
for (const { name, reply, reason } of FAILURES) {
  test(`${name} fails, and the next server is asked`, async () => {
    server.always = reply;
    other.always = { kind: 'code', code: 'REFUSED' };
    const answer = await askHastily([server.address, other.address]).addresses('vllm.test', 4);
    assert.deepEqual(answer, {
      kind: 'failed',
      reason: `A of vllm.test: ${server.address}: ${reason}, ${other.address}: REFUSED`,
    });
  });
}

test('an answer over TCP that does not come fails', async () => {
  server.always = { kind: 'no-tcp' };
  assert.equal(reasonOf(await askHastily().addresses('vllm.test', 4)), 'no answer');
  assert.ok(server.queries.includes('tcp A vllm.test'));
});

test('an answer that is cut off over TCP as well is taken as it is', async () => {
  server.always = { kind: 'records', records: [], truncated: 'always' };
  assert.deepEqual(await ask().addresses('vllm.test', 4), { kind: 'none' });
  assert.deepEqual(server.queries, ['udp A vllm.test', 'tcp A vllm.test']);
});

test('the reason names each server', async () => {
  const closed = `127.0.0.1:${await freePort()}`;
  server.always = { kind: 'code', code: 'REFUSED' };
  assert.deepEqual(await askHastily([closed, server.address]).services('vllm.test'), {
    kind: 'failed',
    reason: `SRV of vllm.test: ${closed}: connection refused, ${server.address}: REFUSED`,
  });
});

test('servers are asked in their order, from the one on that answered last', async () => {
  for (const one of [server, other]) one.addresses('vllm.test', ['127.0.0.1']);
  const servers = new DnsServers([server.address, other.address]);
  const next = async () => {
    await servers.session(never).addresses('vllm.test', 4);
    return [server.queries.splice(0).length, other.queries.splice(0).length];
  };
  assert.deepEqual(await next(), [1, 0]);
  server.always = { kind: 'code', code: 'SERVFAIL' };
  assert.deepEqual(await next(), [1, 1]);
  assert.deepEqual(await next(), [0, 1]);
  other.always = { kind: 'code', code: 'SERVFAIL' };
  server.always = undefined;
  assert.deepEqual(await next(), [1, 1]);
  assert.deepEqual(await next(), [1, 0]);
});

test('the servers of the system are those of the moment', async () => {
  for (const one of [server, other]) one.addresses('vllm.test', ['127.0.0.1']);
  let system = server.address;
  const servers = new DnsServers([], { system: () => [system, system] });
  for (const one of [server, other]) {
    system = one.address;
    await servers.session(never).addresses('vllm.test', 4);
    assert.deepEqual(one.queries, ['udp A vllm.test']);
  }
  const given = await new DnsServers([]).session(AbortSignal.abort()).addresses('vllm.test', 4);
  assert.deepEqual(given, { kind: 'failed', reason: 'A of vllm.test: given up' });
});

test('search domains play no part', async () => {
  const original = process.env['LOCALDOMAIN'];
  process.env['LOCALDOMAIN'] = 'inference.svc.cluster.test';
  try {
    server.addresses('vllm.inference.svc.cluster.test', ['127.0.0.1']);
    assert.deepEqual(await ask().addresses('vllm', 4), { kind: 'none' });
    assert.deepEqual(server.queries, ['udp A vllm']);
  } finally {
    if (original === undefined) delete process.env['LOCALDOMAIN'];
    else process.env['LOCALDOMAIN'] = original;
  }
});

test('nothing is remembered from one session to the next', async () => {
  const servers = new DnsServers([server.address]);
  for (const address of ['127.0.0.1', '127.0.0.2']) {
    server.addresses('vllm.test', [address], 3600);
    const answer = await servers.session(never).addresses('vllm.test', 4);
    assert.deepEqual(answer, { kind: 'records', records: [address], ttlSeconds: 3600 });
  }
});

test('a name that DNS cannot hold fails', async () => {
  assert.equal(reasonOf(await ask().addresses(`${'x'.repeat(64)}.test`, 4)), 'not a name that DNS can hold');
});

test('giving up ends what is under way, and asks nobody else', async () => {
  server.always = { kind: 'drop' };
  const stop = new AbortController();
  const dns = new DnsServers([server.address, other.address]).session(stop.signal);
  const answers = Promise.all([dns.addresses('vllm.test', 4), dns.services('vllm.test')]);
  stop.abort();
  assert.deepEqual((await answers).map(reasonOf), ['given up', 'given up']);
  assert.deepEqual(await dns.addresses('vllm.test', 6), {
    kind: 'failed',
    reason: 'AAAA of vllm.test: given up',
  });
  assert.deepEqual(other.queries, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Found } from '../../../src/discovery/discoverer.ts';
import { DnsReader } from '../../../src/discovery/dns-reader.ts';
import type { DnsReading } from '../../../src/discovery/dns-round.ts';
import { A, ScriptedDns, SRV } from '../../support/scripted-dns.ts';

function asList(reading: DnsReading): Extract<DnsReading, { kind: 'list' }> {
  return reading.kind === 'list' ? reading : assert.fail(reading.reason);
}

const inShort = (list: readonly Found[]): readonly string[] =>
  list.map(({ address, port, weight }) => `${address} ${port}${weight === undefined ? '' : ` ${weight}`}`);

test('addresses of both families are backends at the port, in canonical form and each once', async () => {
  const dns = new ScriptedDns();
  dns.set('A', 'vllm.test', ['127.0.0.1', '127.0.0.2', '127.0.0.1'], 30);
  dns.set('AAAA', 'vllm.test', ['2001:DB8::0:1', '::ffff:127.0.0.2'], 20);
  const reading = asList(await new DnsReader(A).read(dns));
  assert.deepEqual(inShort(reading.list), ['127.0.0.1 8000', '127.0.0.2 8000', '2001:db8::1 8000']);
  assert.deepEqual(reading, { ...reading, leftOut: [], ttlSeconds: 20, failures: [], isPartial: false });
});

test('a family without data is no failure, and neither family is an empty list', async () => {
  const dns = new ScriptedDns();
  const reader = new DnsReader(A);
  dns.set('A', 'vllm.test', ['127.0.0.1'], 7);
  assert.deepEqual(inShort(asList(await reader.read(dns)).list), ['127.0.0.1 8000']);
  dns.set('A', 'vllm.test', []);
  const empty = asList(await reader.read(dns));
  assert.deepEqual([empty.list, empty.ttlSeconds, empty.failures], [[], undefined, []]);
});

test('a family that fails keeps its last addresses; both failing fail', async () => {
  const dns = new ScriptedDns();
  const reader = new DnsReader(A);
  dns.set('A', 'vllm.test', ['127.0.0.1']);
  dns.set('AAAA', 'vllm.test', ['::1']);
  await reader.read(dns);
  dns.set('A', 'vllm.test', ['127.0.0.2']);
  dns.set('AAAA', 'vllm.test', 'fails');
  const partial = asList(await reader.read(dns));
  assert.deepEqual(inShort(partial.list), ['127.0.0.2 8000', '::1 8000']);
  assert.deepEqual([partial.isPartial, partial.failures], [false, ['AAAA vllm.test: no answer']]);
  dns.set('A', 'vllm.test', 'fails');
  assert.deepEqual(await reader.read(dns), {
    kind: 'failed',
    reason: 'A vllm.test: no answer; AAAA vllm.test: no answer',
  });
});

test('a family that never answered makes the list partial', async () => {
  const dns = new ScriptedDns();
  dns.set('A', 'vllm.test', ['127.0.0.1']);
  dns.set('AAAA', 'vllm.test', 'fails');
  const reading = asList(await new DnsReader(A).read(dns));
  assert.deepEqual([inShort(reading.list), reading.isPartial], [['127.0.0.1 8000'], true]);
});

test('addresses that nothing can be reached at are left out', async () => {
  const dns = new ScriptedDns();
  dns.set('A', 'vllm.test', ['0.0.0.0', '224.0.0.1', '127.0.0.1', '255.255.255.255']);
  dns.set('AAAA', 'vllm.test', ['::', 'ff02::1']);
  const { list, leftOut } = asList(await new DnsReader(A).read(dns));
  assert.deepEqual(inShort(list), ['127.0.0.1 8000']);
  assert.equal(leftOut.length, 5);
  assert.equal(leftOut[0], '0.0.0.0: no server can be reached at this address');
});

test('what is left out is told in a few lines', async () => {
  const dns = new ScriptedDns();
  dns.set(
    'A',
    'vllm.test',
    Array.from({ length: 100 }, (_, index) => `224.0.0.${index}`),
  );
  const { leftOut } = asList(await new DnsReader(A).read(dns));
  assert.deepEqual([leftOut.length, leftOut.at(-1)], [10, 'and 91 more']);
});

test('SRV: port and weight come from the records, addresses from their targets', async () => {
  const dns = new ScriptedDns();
  dns.service(SRV.name, ['1 30 8001 a.test', '1 10 8002 b.test', '1 20 8003 b.test']);
  dns.set('A', 'a.test', ['127.0.0.1'], 9);
  dns.set('A', 'b.test', ['127.0.0.2'], 4);
  dns.set('AAAA', 'b.test', ['::2'], 5);
  const reading = asList(await new DnsReader(SRV).read(dns));
  assert.deepEqual(inShort(reading.list), [
    '127.0.0.1 8001 30',
    '127.0.0.2 8002 5',
    '::2 8002 5',
    '127.0.0.2 8003 10',
    '::2 8003 10',
  ]);
  assert.equal(reading.ttlSeconds, 4);
  assert.deepEqual([...dns.asked].sort(), [
    'A a.test',
    'A b.test',
    'AAAA a.test',
    'AAAA b.test',
    `SRV ${SRV.name}`,
  ]);
});

test('SRV: only the lowest priority is used, and that others are there is told', async () => {
  const dns = new ScriptedDns();
  dns.service(SRV.name, ['20 1 8001 a.test', '10 1 8002 b.test', '30 1 8003 c.test']);
  for (const name of ['a.test', 'b.test', 'c.test']) dns.set('A', name, ['127.0.0.1']);
  const { list, leftOut } = asList(await new DnsReader(SRV).read(dns));
  assert.deepEqual(inShort(list), ['127.0.0.1 8002 1']);
  assert.deepEqual(leftOut, ['records of a priority above 10: 2']);
  assert.ok(!dns.asked.includes('A a.test'));
});

test('SRV: one address and port of several records is one backend with the sum of their weights', async () => {
  const dns = new ScriptedDns();
  dns.service(SRV.name, ['0 10 8000 a.test', '0 20 8000 b.test', '0 5 8000 a.test', '0 0 8001 a.test']);
  dns.set('A', 'a.test', ['127.0.0.1']);
  dns.set('A', 'b.test', ['127.0.0.1']);
  const { list } = asList(await new DnsReader(SRV).read(dns));
  assert.deepEqual(inShort(list), ['127.0.0.1 8000 35', '127.0.0.1 8001 0']);
});

test('SRV: port 0 and targets without an address are left out; no service is an empty list', async () => {
  const dns = new ScriptedDns();
  const reader = new DnsReader(SRV);
  dns.service(SRV.name, ['0 1 0 a.test', '0 1 8000 gone.test', '0 1 8000 b.test']);
  dns.set('A', 'b.test', ['127.0.0.1']);
  const { list, leftOut } = asList(await reader.read(dns));
  assert.deepEqual(inShort(list), ['127.0.0.1 8000 1']);
  assert.deepEqual(leftOut, ['a.test: port 0', 'gone.test: no address']);
  dns.service(SRV.name, ['0 0 0 ']);
  const none = asList(await reader.read(dns));
  assert.deepEqual([none.list, none.leftOut], [[], []]);
});

test('SRV: a target that fails keeps its last addresses; all failing fail', async () => {
  const dns = new ScriptedDns();
  const reader = new DnsReader(SRV);
  dns.service(SRV.name, ['0 1 8000 a.test', '0 1 8000 b.test']);
  dns.set('A', 'a.test', ['127.0.0.1']);
  dns.set('A', 'b.test', ['127.0.0.2']);
  await reader.read(dns);
  dns.set('A', 'b.test', 'fails');
  dns.service(SRV.name, ['0 1 8000 a.test', '0 1 9000 b.test']);
  const partial = asList(await reader.read(dns));
  assert.deepEqual(inShort(partial.list), ['127.0.0.1 8000 1', '127.0.0.2 9000 1']);
  assert.equal(partial.isPartial, false);
  for (const name of ['a.test', 'b.test']) {
    dns.set('A', name, 'fails');
    dns.set('AAAA', name, 'fails');
  }
  assert.equal((await reader.read(dns)).kind, 'failed');
});

test('SRV: the service failing fails, whatever its targets were', async () => {
  const dns = new ScriptedDns();
  dns.srv.set(SRV.name, { kind: 'failed', reason: 'SERVFAIL' });
  assert.deepEqual(await new DnsReader(SRV).read(dns), { kind: 'failed', reason: 'SERVFAIL' });
});

test('SRV: more than 10,000 addresses are refused before all targets are asked', async () => {
  const dns = new ScriptedDns();
  const targets = Array.from({ length: 50 }, (_, index) => `t${index}.test`);
  dns.service(
    SRV.name,
    targets.map((target) => `0 1 8000 ${target}`),
  );
  for (const [index, target] of targets.entries()) {
    dns.set(
      'A',
      target,
      Array.from({ length: 1000 }, (_, host) => `10.${index}.${host >> 8}.${host & 255}`),
    );
  }
  assert.deepEqual(await new DnsReader(SRV).read(dns), {
    kind: 'failed',
    reason: 'more than 10000 addresses',
  });
  assert.ok(dns.asked.length < 50);
});

test('SRV: addresses count that cannot be used, or stand there again and again', async () => {
  const dns = new ScriptedDns();
  const targets = Array.from({ length: 50 }, (_, index) => `t${index}.test`);
  dns.service(
    SRV.name,
    targets.map((target) => `0 1 8000 ${target}`),
  );
  for (const target of targets) {
    dns.set('A', target, Array<string>(1000).fill('127.0.0.1'));
    dns.set('AAAA', target, Array<string>(1000).fill('ff02::1'));
  }
  assert.deepEqual(await new DnsReader(SRV).read(dns), {
    kind: 'failed',
    reason: 'more than 10000 addresses',
  });
});

test('SRV: few addresses on many ports are as many backends', async () => {
  const dns = new ScriptedDns();
  const addresses = Array.from({ length: 4000 }, (_, host) => `10.0.${host >> 8}.${host & 255}`);
  dns.set('A', 'a.test', addresses);
  dns.service(SRV.name, ['0 1 1 a.test', '0 1 2 a.test', '0 1 2 a.test']);
  assert.equal(asList(await new DnsReader(SRV).read(dns)).list.length, 8000);
  dns.service(
    SRV.name,
    Array.from({ length: 3000 }, (_, port) => `0 1 ${port + 1} a.test`),
  );
  assert.deepEqual(await new DnsReader(SRV).read(dns), {
    kind: 'failed',
    reason: 'more than 10000 addresses',
  });
});

test('answers that change every time are each taken whole, and nothing of those before stays', async () => {
  const dns = new ScriptedDns();
  const reader = new DnsReader(SRV);
  for (let round = 0; round < 50; round++) {
    dns.service(SRV.name, [`0 1 8000 pod-${round}.test`]);
    dns.set('A', `pod-${round}.test`, [`127.0.0.${round + 1}`]);
    assert.deepEqual(inShort(asList(await reader.read(dns)).list), [`127.0.0.${round + 1} 8000 1`]);
  }
  // the first pod has been forgotten
  dns.service(SRV.name, ['0 1 8000 pod-0.test', '0 1 8000 pod-49.test']);
  dns.set('A', 'pod-0.test', 'fails');
  const reading = asList(await reader.read(dns));
  assert.deepEqual([inShort(reading.list), reading.isPartial], [['127.0.0.50 8000 1'], true]);
});

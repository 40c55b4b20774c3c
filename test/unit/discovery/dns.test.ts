import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DnsDiscoverer } from '../../../src/discovery/dns.ts';
import type { Dns } from '../../../src/discovery/dns-client.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FoundLists } from '../../support/found-lists.ts';
import { A, ScriptedDns, SRV } from '../../support/scripted-dns.ts';

/** A discoverer that runs against scripted DNS, on a fake clock. */
class Run {
  readonly clock = new FakeClock();
  readonly dns = new ScriptedDns();
  readonly told = new FoundLists();
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  start(settings = A, random = 0, session: (signal: AbortSignal) => Dns = () => this.dns): this {
    const discoverer = new DnsDiscoverer({ settings, clock: this.clock, session, random: () => random });
    this.#ended = discoverer.run(this.told, this.#stop.signal);
    return this;
  }

  /** How often DNS was asked so far; each time for two families. */
  get rounds(): number {
    return this.dns.asked.length / 2;
  }

  /** Also sees to it that nothing is left. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
    assert.equal(this.clock.pending, 0);
  }
}

for (const { ttl, pauseSeconds } of [
  { ttl: 0, pauseSeconds: 1 },
  { ttl: 7, pauseSeconds: 7 },
  { ttl: 4_294_967_295, pauseSeconds: 60 },
  { ttl: undefined, pauseSeconds: 5 },
]) {
  test(`a TTL of ${ttl ?? 'nobody knows what'} is a pause of ${pauseSeconds} s`, async () => {
    const run = new Run();
    run.dns.set('A', 'vllm.test', ['127.0.0.1'], ttl);
    run.start();
    await run.clock.advance(1000 * pauseSeconds - 1);
    assert.equal(run.rounds, 1);
    await run.clock.advance(1);
    assert.equal(run.rounds, 2);
    await run.stop();
  });
}

test('the pause is up to a tenth longer', async () => {
  const run = new Run();
  run.dns.set('A', 'vllm.test', ['127.0.0.1'], 10);
  run.start(A, 0.5);
  await run.clock.advance(10_499);
  assert.equal(run.rounds, 1);
  await run.clock.advance(1);
  assert.equal(run.rounds, 2);
  await run.stop();
});

test('SRV is asked for every 30 s at the latest', async () => {
  const run = new Run();
  run.dns.service(SRV.name, ['0 1 8000 a.test']);
  run.dns.set('A', 'a.test', ['127.0.0.1'], 3600);
  run.start(SRV);
  await run.clock.advance(29_999);
  assert.equal(run.told.lists.length, 1);
  await run.clock.advance(1);
  assert.equal(run.told.lists.length, 2);
  await run.stop();
});

test('a name that has nothing is an empty list, asked for every 5 s', async () => {
  const run = new Run().start();
  await run.clock.advance(4999);
  assert.deepEqual(run.told.lists, [[]]);
  await run.clock.advance(1);
  assert.deepEqual([run.told.lists, run.told.reasons], [[[], []], []]);
  await run.stop();
});

test('attempts that fail are 1, 2, 4 … 30 s apart, each told; the first that does not starts anew', async () => {
  const run = new Run();
  run.dns.set('A', 'vllm.test', 'fails');
  run.dns.set('AAAA', 'vllm.test', 'fails');
  run.start();
  const at: number[] = [];
  for (let second = 0; second <= 91; second++) {
    await run.clock.advance(second === 0 ? 0 : 1000);
    while (at.length < run.told.reasons.length) at.push(second);
  }
  assert.deepEqual(at, [0, 1, 3, 7, 15, 31, 61, 91]);
  assert.deepEqual(run.told.lists, []);
  run.dns.set('A', 'vllm.test', ['127.0.0.1'], 1);
  run.dns.set('AAAA', 'vllm.test', []);
  await run.clock.advance(30_000);
  assert.deepEqual(run.told.last, ['127.0.0.1:8000']);
  run.dns.set('A', 'vllm.test', 'fails');
  run.dns.set('AAAA', 'vllm.test', 'fails');
  await run.clock.advance(2000);
  assert.equal(run.told.reasons.length, at.length + 2);
  await run.stop();
});

test('a family that fails is told beside the list, and asked again soon', async () => {
  const run = new Run();
  run.dns.set('A', 'vllm.test', ['127.0.0.1'], 60);
  run.dns.set('AAAA', 'vllm.test', ['::1'], 60);
  run.start();
  await run.clock.advance(0);
  run.dns.set('AAAA', 'vllm.test', 'fails');
  await run.clock.advance(60_000);
  assert.deepEqual(run.told.last, ['127.0.0.1:8000', '[::1]:8000']);
  assert.deepEqual(run.told.leftOut, ['AAAA vllm.test: no answer']);
  run.dns.set('AAAA', 'vllm.test', ['::2'], 60);
  await run.clock.advance(1000);
  assert.deepEqual(run.told.last, ['127.0.0.1:8000', '[::2]:8000']);
  assert.deepEqual([run.told.leftOut, run.told.reasons], [[], []]);
  await run.stop();
});

test('a family that never answers holds the first list back for three attempts', async () => {
  const run = new Run();
  run.dns.set('A', 'vllm.test', ['127.0.0.1'], 60);
  run.dns.set('AAAA', 'vllm.test', 'fails');
  run.start();
  await run.clock.advance(2999);
  assert.deepEqual([run.told.lists.length, run.told.reasons.length], [0, 2]);
  await run.clock.advance(1);
  assert.deepEqual(run.told.last, ['127.0.0.1:8000']);
  assert.deepEqual(run.told.leftOut, ['AAAA vllm.test: no answer']);
  await run.stop();
});

test('an empty list is never told while a family does not answer', async () => {
  const run = new Run();
  run.dns.set('A', 'vllm.test', 'fails');
  run.dns.set('AAAA', 'vllm.test', []);
  run.start();
  await run.clock.advance(600_000);
  assert.deepEqual(run.told.lists, []);
  assert.ok(run.told.reasons.length > 10);
  await run.stop();
});

test('an attempt that takes longer than 30 s is given up', async () => {
  const run = new Run();
  run.start(A, 0, (signal) => {
    const answer = new Promise<{ kind: 'failed'; reason: string }>((resolve) => {
      signal.addEventListener('abort', () => {
        resolve({ kind: 'failed', reason: 'given up' });
      });
    });
    return { addresses: async () => answer, services: async () => answer };
  });
  await run.clock.advance(29_999);
  assert.deepEqual(run.told.reasons, []);
  await run.clock.advance(1);
  assert.deepEqual(run.told.reasons, ['given up; given up']);
  await run.stop();
  assert.equal(run.told.reasons.length, 1);
});

test('a session that cannot be had is a failure like any other', async () => {
  const run = new Run();
  run.start(A, 0, () => {
    throw new Error('too many open files');
  });
  await run.clock.advance(1000);
  assert.deepEqual(run.told.reasons, ['too many open files', 'too many open files']);
  await run.stop();
});

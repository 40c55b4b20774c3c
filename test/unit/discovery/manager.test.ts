import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pino } from 'pino';
import type { DiscoverySettings } from '../../../src/core/model/discovery.ts';
import type { ServerGroup } from '../../../src/core/model/server-group.ts';
import type { Discoverer, DiscoveryObserver, Found } from '../../../src/discovery/discoverer.ts';
import { DiscoveryManager } from '../../../src/discovery/manager.ts';
import { serverGroup } from '../../support/configuration.ts';
import { backend } from '../../support/decisions.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A source that says what a test wants. */
class ScriptedSource implements Discoverer {
  #observer: DiscoveryObserver | undefined;
  runs = 0;
  ended = false;
  #end = (): void => undefined;

  async run(observer: DiscoveryObserver, signal: AbortSignal): Promise<void> {
    this.#observer = observer;
    this.runs++;
    await new Promise<void>((resolve) => {
      this.#end = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.ended = signal.aborted;
  }

  tell(...numbers: readonly number[]): void {
    this.#observer?.found(found(...numbers), []);
  }

  tellAll(list: readonly Found[], leftOut: readonly string[] = []): void {
    this.#observer?.found(list, leftOut);
  }

  fail(reason: string): void {
    this.#observer?.failed(reason);
  }

  /** Ends by itself, as it must not. */
  end(): void {
    this.#end();
  }
}

function found(...numbers: readonly number[]): readonly Found[] {
  return numbers.map((n) => ({ address: `10.0.3.${n}`, port: 8000 }));
}

const FILE: DiscoverySettings = { kind: 'File', path: '/list.yaml', format: 'Plimsoll' };
const OTHER: DiscoverySettings = { kind: 'Dns', name: 'vllm.local', type: 'A', port: 8000, resolvers: [] };

function foundGroup(name: string, change: Partial<ServerGroup> = {}): ServerGroup {
  return serverGroup(name, { discovery: FILE, servers: [], ...change });
}

class Bench {
  readonly clock = new FakeClock(1_000_000);
  readonly lines: Record<string, unknown>[] = [];
  readonly failures: string[] = [];
  readonly manager: DiscoveryManager;
  readonly #sources = new Map<string, ScriptedSource[]>();
  /** How often a change was told. */
  changes = 0;

  constructor(...groups: readonly ServerGroup[]) {
    this.manager = new DiscoveryManager({
      clock: this.clock,
      log: pino(
        { base: null },
        { write: (line: string) => this.lines.push(JSON.parse(line) as Record<string, unknown>) },
      ),
      open: (settings) => {
        const source = new ScriptedSource();
        const key = JSON.stringify(settings);
        this.#sources.set(key, [...(this.#sources.get(key) ?? []), source]);
        return source;
      },
      changed: () => {
        this.changes++;
      },
      failed: (name) => this.failures.push(name),
    });
    this.manager.configure(groups);
  }

  /** The latest one that was opened for these settings. */
  source(settings: DiscoverySettings = FILE): ScriptedSource {
    const source = this.opened(settings).at(-1);
    assert.ok(source !== undefined, 'such a source was opened');
    return source;
  }

  opened(settings: DiscoverySettings): readonly ScriptedSource[] {
    return this.#sources.get(JSON.stringify(settings)) ?? [];
  }

  /** By group, the last numbers of its backends, draining ones below 0; none: the group waits. */
  get members(): Readonly<Record<string, readonly number[]>> {
    return Object.fromEntries(
      this.manager.groups.map(({ name, servers }) => [
        name,
        servers.map(
          ({ address, draining }) => (draining === true ? -1 : 1) * Number(address.split('.').at(-1)),
        ),
      ]),
    );
  }

  get messages(): readonly unknown[] {
    return this.lines.map(({ msg }) => msg);
  }
}

describe('a group whose backends are found', () => {
  test('waits for the first list of its source', async () => {
    const bench = new Bench(foundGroup('llama'), serverGroup('plain'));
    assert.deepEqual(bench.members, { plain: [11, 12] });
    assert.deepEqual(bench.manager.waiting, [{ serverGroup: 'llama', reason: 'no answer yet' }]);
    bench.source().fail('no such file');
    assert.deepEqual(bench.manager.waiting, [{ serverGroup: 'llama', reason: 'no such file' }]);
    bench.source().tell(2, 1);
    assert.deepEqual(bench.members, { llama: [1, 2], plain: [11, 12] });
    assert.deepEqual(bench.manager.waiting, []);
    await bench.clock.advance(0);
    assert.equal(bench.changes, 1);
    assert.deepEqual(bench.messages, [
      'the source of the backends cannot be used: nothing is published until it can',
      'the source of the backends can be used again',
      'backends found',
    ]);
    await bench.manager.stop();
    assert.equal(bench.clock.pending, 0);
  });

  test('waits a minute when the first list is empty, and takes that then', async () => {
    const bench = new Bench(foundGroup('llama'));
    bench.source().tell();
    await bench.clock.advance(20_000);
    assert.deepEqual(bench.manager.waiting, [
      { serverGroup: 'llama', reason: 'the list is empty, which is believed in 40 s' },
    ]);
    await bench.clock.advance(39_999);
    assert.deepEqual(bench.members, {});
    await bench.clock.advance(1);
    assert.deepEqual(bench.members, { llama: [] });
    assert.equal(bench.changes, 1);
  });

  test('does not wait when another list comes first; a failure begins the minute anew', async () => {
    const bench = new Bench(foundGroup('llama'));
    bench.source().tell();
    await bench.clock.advance(50_000);
    bench.source().fail('gone');
    await bench.clock.advance(50_000);
    assert.deepEqual(bench.manager.waiting, [{ serverGroup: 'llama', reason: 'gone' }]);
    bench.source().tell();
    await bench.clock.advance(50_000);
    assert.deepEqual(bench.members, {});
    bench.source().tell(1);
    assert.deepEqual(bench.members, { llama: [1] });
  });

  test('goes on with the last list while the source fails, and tells how often', async () => {
    const bench = new Bench(foundGroup('llama'));
    bench.source().tell(1, 2);
    await bench.clock.advance(10_000);
    bench.source().fail('refused');
    bench.source().fail('refused');
    await bench.clock.advance(5_000);
    const { failure, list } = bench.manager.status('llama') ?? {};
    assert.deepEqual(failure, { reason: 'refused', sinceMs: 1_010_000 });
    assert.deepEqual(list, { atMs: 1_000_000, backends: 2 });
    assert.deepEqual(bench.failures, ['llama', 'llama']);
    assert.deepEqual(bench.members, { llama: [1, 2] });
    assert.equal(bench.messages.filter((of) => String(of).includes('cannot be used')).length, 1);
    bench.source().tell(1, 2);
    assert.equal(bench.manager.status('llama')?.failure, undefined);
  });

  test('tells each reason of a source that fails once, also where several take turns, until it can be used again', () => {
    const bench = new Bench(foundGroup('llama'));
    const warnings = (): readonly unknown[] =>
      bench.lines.filter(({ level }) => level === 40).map(({ reason }) => reason);
    for (const _ of [1, 2, 3]) {
      bench.source().fail('services: no kubeconfig');
      bench.source().fail('endpointslices: no kubeconfig');
    }
    assert.deepEqual(warnings(), ['services: no kubeconfig', 'endpointslices: no kubeconfig']);
    bench.source().tell(1);
    bench.source().tell(1);
    assert.equal(bench.messages.filter((of) => String(of).includes('used again')).length, 1);
    bench.source().fail('services: no kubeconfig');
    assert.equal(warnings().length, 3);
  });

  test('remembers a bounded number of reasons, those that came last', () => {
    const bench = new Bench(foundGroup('llama'));
    for (let n = 1; n <= 100; n++) {
      bench.source().fail('refused');
      bench.source().fail(`refused, connection ${n}`);
    }
    assert.equal(bench.lines.length, 101);
    bench.source().fail('refused, connection 100');
    assert.equal(bench.lines.length, 101);
    bench.source().fail('refused, connection 1');
    assert.equal(bench.lines.length, 102);
  });

  test('names in the log what changed, and leaves out what did not', async () => {
    const bench = new Bench(foundGroup('llama'));
    const list = async (...of: readonly Found[]): Promise<void> => {
      bench.source().tellAll(of);
      await bench.clock.advance(2_000);
    };
    const [one, two, three] = found(1, 2, 3) as readonly [Found, Found, Found];
    await list(one, two);
    await list({ ...one, weight: 50 }, two);
    await list({ ...one, weight: 50, zone: 'a' }, two);
    await list({ ...one, weight: 50, zone: 'a', draining: true }, two);
    await list({ ...one, weight: 50, zone: 'a' }, two, three);
    assert.deepEqual(
      bench.lines
        .filter(({ msg }) => msg === 'backends changed')
        .map(({ joined, back, draining, gone, reweighed }) => ({ joined, back, draining, gone, reweighed }))
        .map((of) => Object.fromEntries(Object.entries(of).filter(([, ids]) => ids !== undefined))),
      [
        { reweighed: [backend(1).id] },
        { draining: [backend(1).id] },
        { joined: [backend(3).id], back: [backend(1).id] },
      ],
    );
  });

  test('refuses a list of too many, and keeps the last', async () => {
    const bench = new Bench(foundGroup('llama'));
    const many = Array.from({ length: 10_001 }, (_, i) => ({
      address: `10.1.${i >> 8}.${i & 255}`,
      port: 1,
    }));
    bench.source().tellAll(many);
    assert.match(bench.manager.waiting[0]?.reason ?? '', /more than 10000 backends/);
    bench.source().tell(1);
    bench.source().tellAll(many);
    assert.deepEqual(bench.members, { llama: [1] });
    assert.match(bench.manager.status('llama')?.failure?.reason ?? '', /more than 10000 backends/);
    bench.source().tell(1);
    assert.equal(bench.manager.status('llama')?.failure, undefined);
    await bench.manager.stop();
  });

  test('tells what is left out, by the source and by the rules of the group', () => {
    const bench = new Bench(foundGroup('llama'), foundGroup('mistral', { allowLinkLocal: true }));
    bench.source().tellAll([...found(1), { address: '169.254.1.1', port: 8000 }], ['a pod without a port']);
    assert.deepEqual(bench.members, { llama: [1], mistral: [1, 1] });
    assert.deepEqual(bench.manager.status('llama')?.leftOut, [
      'a pod without a port',
      '169.254.1.1:8000: a link-local address, which only a group with AllowLinkLocal may have',
    ]);
    assert.deepEqual(bench.manager.status('mistral')?.leftOut, ['a pod without a port']);
  });

  test('doubts an empty list, says so once, and lets go after a minute and DrainSeconds', async () => {
    const bench = new Bench(foundGroup('llama', { drainSeconds: 10 }));
    bench.source().tell(1, 2);
    await bench.clock.advance(0);
    bench.source().tell();
    await bench.clock.advance(30_000);
    bench.source().tell();
    await bench.clock.advance(29_000);
    assert.deepEqual(bench.members, { llama: [1, 2] });
    assert.equal(bench.manager.status('llama')?.doubted.length, 2);
    assert.equal(bench.changes, 1);
    await bench.clock.advance(1_000);
    assert.deepEqual(bench.members, { llama: [-1, -2] });
    await bench.clock.advance(10_000);
    assert.deepEqual(bench.members, { llama: [] });
    assert.equal(bench.changes, 3);
    const doubts = bench.messages.filter((of) => String(of).includes('lacks most'));
    assert.equal(doubts.length, 1);
    assert.deepEqual(bench.lines.at(-1)?.['gone'], [backend(1).id, backend(2).id]);
  });
});

test('backends that all drain take requests, which is said once', async () => {
  const bench = new Bench(foundGroup('llama'));
  const draining = found(1, 2).map((of) => ({ ...of, draining: true }));
  bench.source().tell(1, 2);
  await bench.clock.advance(0);
  for (const _ of [1, 2, 3]) {
    bench.source().tellAll(draining);
    await bench.clock.advance(2_000);
  }
  assert.deepEqual(bench.members, { llama: [1, 2] });
  assert.equal(bench.messages.filter((of) => String(of).includes('about to go')).length, 1);
  assert.deepEqual(bench.manager.status('llama')?.draining, []);
  bench.source().tellAll([...draining, ...found(3)]);
  assert.deepEqual(bench.members, { llama: [-1, -2, 3] });
});

describe('changes', () => {
  test('that come in quick succession are told once in a second', async () => {
    const bench = new Bench(foundGroup('llama'));
    bench.source().tell(1);
    await bench.clock.advance(0);
    for (let n = 2; n <= 50; n++) {
      bench.source().tell(...Array.from({ length: n }, (_, i) => i + 1));
      await bench.clock.advance(10);
    }
    assert.equal(bench.changes, 1);
    await bench.clock.advance(1000);
    assert.equal(bench.changes, 2);
    assert.equal(bench.members['llama']?.length, 50);
  });

  test('of several sources at a time are told in one go; no change is not told', async () => {
    const bench = new Bench(foundGroup('llama'), foundGroup('mistral', { discovery: OTHER }));
    bench.source(FILE).tell(1);
    bench.source(OTHER).tell(2);
    await bench.clock.advance(0);
    assert.equal(bench.changes, 1);
    bench.source(FILE).tell(1);
    await bench.clock.advance(5_000);
    assert.equal(bench.changes, 1);
  });

  test('the same groups are the same objects', () => {
    const bench = new Bench(foundGroup('llama'), serverGroup('plain'));
    bench.source().tell(1);
    const before = bench.manager.groups;
    bench.source().tell(1);
    assert.ok(bench.manager.groups.every((group, i) => group === before[i]));
  });
});

describe('sources', () => {
  test('one runs for groups with the same settings; it ends with the last of them', async () => {
    const bench = new Bench(foundGroup('a'), foundGroup('b'), foundGroup('c', { discovery: OTHER }));
    assert.equal(bench.opened(FILE).length, 1);
    bench.source().tell(1);
    assert.deepEqual(bench.members, { a: [1], b: [1] });
    const source = bench.source();
    bench.manager.configure([foundGroup('b')]);
    await bench.clock.advance(0);
    assert.equal(source.ended, false);
    assert.equal(bench.source(OTHER).ended, true);
    bench.manager.configure([foundGroup('d')]);
    assert.deepEqual(bench.members, { d: [1] }, 'what it told is known already');
    bench.manager.configure([serverGroup('plain')]);
    await bench.clock.advance(0);
    assert.equal(source.ended, true);
    source.tell(7);
    assert.deepEqual(bench.members, { plain: [11, 12] });
  });

  test('one that ends by itself is begun again, and the last list stands', async () => {
    const bench = new Bench(foundGroup('llama'));
    bench.source().tell(1);
    bench.source().end();
    await bench.clock.advance(0);
    assert.equal(bench.manager.status('llama')?.failure?.reason, 'it ended by itself');
    assert.deepEqual(bench.members, { llama: [1] });
    await bench.clock.advance(10_000);
    assert.equal(bench.opened(FILE).length, 2);
    bench.source().tell(1, 2);
    assert.deepEqual(bench.members, { llama: [1, 2] });
    await bench.manager.stop();
    assert.equal(bench.clock.pending, 0);
  });

  test('one that cannot be opened is tried again', async () => {
    const clock = new FakeClock();
    let times = 0;
    const manager = new DiscoveryManager({
      clock,
      log: pino({ level: 'silent' }),
      open: () => {
        times++;
        throw new Error('no such module');
      },
      changed: () => undefined,
    });
    manager.configure([foundGroup('llama')]);
    assert.deepEqual(manager.waiting, [{ serverGroup: 'llama', reason: 'no such module' }]);
    await clock.advance(10_000);
    assert.equal(times, 2);
    await manager.stop();
    assert.equal(clock.pending, 0);
  });
});

describe('a reload', () => {
  test('that takes a server from the list drains it; one that has it again undoes that', async () => {
    const bench = new Bench(serverGroup('llama', { drainSeconds: 10 }));
    bench.manager.configure([serverGroup('llama', { drainSeconds: 10, servers: [backend(12)] })]);
    assert.deepEqual(bench.members, { llama: [12, -11] });
    await bench.clock.advance(9_999);
    assert.equal(bench.changes, 0);
    await bench.clock.advance(1);
    assert.deepEqual([bench.members, bench.changes], [{ llama: [12] }, 1]);
    bench.manager.configure([serverGroup('llama', { servers: [backend(11)] })]);
    bench.manager.configure([serverGroup('llama')]);
    assert.deepEqual(bench.members, { llama: [11, 12] });
  });

  test('that replaces all servers is believed', () => {
    const bench = new Bench(serverGroup('llama'));
    bench.manager.configure([serverGroup('llama', { servers: [backend(1)] })]);
    assert.deepEqual(bench.members, { llama: [1, -11, -12] });
  });

  const transitions: readonly (readonly [string, ServerGroup])[] = [
    ['another Discovery', foundGroup('llama')],
    ['Servers', serverGroup('llama', { servers: [backend(1), backend(2), backend(3)] })],
  ];
  for (const [name, before] of transitions) {
    test(`from ${name} to a Discovery goes on with the old list until the new source has told one`, async () => {
      const bench = new Bench(before);
      if (before.discovery !== undefined) bench.source().tell(1, 2, 3);
      bench.manager.configure([foundGroup('llama', { discovery: OTHER })]);
      assert.deepEqual(bench.members, { llama: [1, 2, 3] });
      bench.source(OTHER).fail('no answer');
      await bench.clock.advance(120_000);
      assert.deepEqual(bench.members, { llama: [1, 2, 3] });
      assert.equal(bench.manager.status('llama')?.waiting, undefined);
      assert.equal(bench.manager.status('llama')?.failure?.reason, 'no answer');
      bench.source(OTHER).tell(3, 4);
      assert.deepEqual(bench.members, { llama: [-1, -2, 3, 4] });
      await bench.clock.advance(30_000);
      assert.deepEqual(bench.members, { llama: [3, 4] });
    });

    test(`from ${name} to a Discovery whose first list is empty keeps the old one for a minute`, async () => {
      const bench = new Bench(before);
      if (before.discovery !== undefined) bench.source().tell(1, 2, 3);
      bench.manager.configure([foundGroup('llama', { discovery: OTHER })]);
      bench.source(OTHER).tell();
      await bench.clock.advance(59_999);
      assert.deepEqual(bench.members, { llama: [1, 2, 3] });
      await bench.clock.advance(1);
      assert.deepEqual(bench.members, { llama: [-1, -2, -3] });
    });
  }

  test('to another source while a doubt runs believes nothing before that one has told a list', async () => {
    const bench = new Bench(foundGroup('llama'));
    bench.source().tell(1, 2, 3);
    bench.source().tell(4);
    await bench.clock.advance(30_000);
    bench.manager.configure([foundGroup('llama', { discovery: OTHER })]);
    await bench.clock.advance(600_000);
    assert.deepEqual(bench.members, { llama: [1, 2, 3, 4] });
    bench.source(OTHER).tell(1, 4);
    assert.deepEqual(bench.members, { llama: [1, -2, -3, 4] });
    await bench.clock.advance(30_000);
    assert.deepEqual(bench.members, { llama: [1, 4] });
  });

  test('from a Discovery to Servers takes these at once', () => {
    const bench = new Bench(foundGroup('llama'));
    bench.source().tell(1, 12);
    bench.manager.configure([serverGroup('llama')]);
    assert.deepEqual(bench.members, { llama: [11, 12, -1] });
    assert.equal(bench.manager.status('llama')?.source, undefined);
  });

  test('from a Discovery that never told anything to Servers', () => {
    const bench = new Bench(foundGroup('llama'));
    bench.manager.configure([serverGroup('llama')]);
    assert.deepEqual(bench.members, { llama: [11, 12] });
  });

  test('moves an address from one group to another', () => {
    const bench = new Bench(
      serverGroup('a', { servers: [backend(1), backend(2)] }),
      serverGroup('b', { servers: [backend(3)] }),
    );
    bench.manager.configure([
      serverGroup('a', { servers: [backend(1)] }),
      serverGroup('b', { servers: [backend(3), backend(2)] }),
    ]);
    assert.deepEqual(bench.members, { a: [1, -2], b: [3, 2] });
  });

  test('forgets the backends of a group that is gone', () => {
    const bench = new Bench(serverGroup('llama'), serverGroup('other'));
    bench.manager.configure([serverGroup('other')]);
    bench.manager.configure([serverGroup('llama', { servers: [backend(1)] }), serverGroup('other')]);
    assert.deepEqual(bench.members, { llama: [1], other: [11, 12] });
  });

  test('has its settings in the groups, found or not, and keeps what stands', () => {
    const bench = new Bench(foundGroup('llama'));
    bench.source().tell(1);
    bench.manager.configure([foundGroup('llama', { retryAfterSeconds: 7 })]);
    assert.deepEqual(
      bench.manager.groups.map(({ retryAfterSeconds, servers }) => [retryAfterSeconds, servers.length]),
      [[7, 1]],
    );
    assert.equal(bench.source().runs, 1);
  });

  test('that forbids addresses of this link takes them out of what was found', () => {
    const bench = new Bench(foundGroup('llama', { allowLinkLocal: true }));
    bench
      .source()
      .tellAll([...found(1), { address: '169.254.1.2', port: 8000 }, { address: '169.254.1.3', port: 8000 }]);
    bench.manager.configure([foundGroup('llama')]);
    assert.deepEqual(bench.members, { llama: [1, -2, -3] });
  });
});

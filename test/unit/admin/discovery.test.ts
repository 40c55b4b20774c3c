import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { discoveryState } from '../../../src/admin/discovery-state.ts';
import { discoveryWarnings } from '../../../src/admin/discovery-warnings.ts';
import { Metrics } from '../../../src/admin/metrics.ts';
import { discoveryWords, relativeDiscovery } from '../../../src/admin/words/discovery-words.ts';
import { backendLines } from '../../../src/admin/words/explain-backend.ts';
import { backend } from '../../support/decisions.ts';
import { explanationOf } from '../../support/explanations.ts';
import { Fleet } from '../../support/fleet.ts';
import type { DiscoveryStatus } from '../../../src/core/model/discovery.ts';

const NOW = 100_000;

function status(change: Partial<DiscoveryStatus> = {}): DiscoveryStatus {
  return {
    source: 'file /etc/list.yaml',
    list: { atMs: 97_000, backends: 8 },
    failure: undefined,
    waiting: undefined,
    leftOut: [],
    doubted: [],
    draining: [],
    ...change,
  };
}

function words(change: Partial<DiscoveryStatus>): readonly string[] {
  return discoveryWords(
    relativeDiscovery(
      discoveryState(status(change), (ms) => ms + 1e12),
      NOW + 1e12,
    ),
  );
}

const gone = (count: number, atMs: number | undefined) =>
  Array.from({ length: count }, (_, i) => ({ id: `10.0.0.${i + 1}:80`, atMs }));

describe('where backends come from, in words', () => {
  test('a list, and how old it is', () => {
    assert.deepEqual(words({}), ['backends from file /etc/list.yaml, which told 8 backends 3 s ago']);
  });

  test('one that waits says for what', () => {
    const failure = { reason: 'no such file', sinceMs: 0 };
    assert.deepEqual(words({ list: undefined, failure, waiting: 'no such file' }), [
      'waiting for discovery: file /etc/list.yaml: no such file',
    ]);
  });

  test('what is wrong, and who is on the way out', () => {
    assert.deepEqual(
      words({
        failure: { reason: 'refused', sinceMs: 10_000 },
        doubted: gone(2, 142_000),
        draining: gone(5, undefined),
        leftOut: ['a', 'b', 'c', 'd'],
      }),
      [
        'backends from file /etc/list.yaml, which told 8 backends 3 s ago',
        'it cannot be used for 90 s: refused',
        'missing there, which is not believed yet: 10.0.0.1:80 (42 s left), 10.0.0.2:80 (42 s left)',
        'draining: 10.0.0.1:80, 10.0.0.2:80, 10.0.0.3:80 and 2 more',
        'left out: a; b; c and 1 more',
      ],
    );
  });

  test('of a configured list only that some of it drain', () => {
    const plain = { source: undefined, list: undefined };
    assert.deepEqual(words(plain), []);
    assert.deepEqual(words({ ...plain, draining: gone(1, 130_000) }), [
      'backends from the configuration',
      'draining: 10.0.0.1:80 (30 s left)',
    ]);
  });

  test('long lists are cut, and counted', () => {
    const state = discoveryState(
      status({ doubted: gone(50, 0), leftOut: Array.from({ length: 12 }, String) }),
      (ms) => ms,
    );
    assert.deepEqual([state?.doubted.total, state?.doubted.shown.length], [50, 20]);
    assert.deepEqual([state?.leftOut.length, state?.moreLeftOut], [10, 2]);
  });
});

describe('warnings of where backends come from', () => {
  const cases: readonly (readonly [string, Partial<DiscoveryStatus>, readonly string[]])[] = [
    ['nothing', {}, []],
    ['a configured list', { source: undefined }, []],
    [
      'waiting',
      { waiting: 'no answer yet', failure: { reason: 'x', sinceMs: 0 } },
      ['waiting for discovery: file /etc/list.yaml: no answer yet'],
    ],
    [
      'a failure',
      { failure: { reason: 'refused', sinceMs: 10_000 } },
      ['file /etc/list.yaml cannot be used for 90 s: refused'],
    ],
    [
      'a doubt',
      { doubted: gone(3, 0) },
      [
        'file /etc/list.yaml lacks most of the backends that it had: 3 of them stay until that has stood for a minute',
      ],
    ],
    [
      'what is left out',
      { leftOut: ['a: no address', 'b'] },
      ['file /etc/list.yaml has what cannot be used: a: no address and 1 more'],
    ],
  ];
  for (const [name, change, texts] of cases) {
    test(name, () => {
      const warnings = discoveryWarnings(status(change), NOW);
      assert.deepEqual(
        warnings.map(({ text }) => text),
        texts,
      );
      assert.ok(warnings.every(({ remedy }) => remedy.length > 20));
    });
  }
});

test('metrics of where backends come from are of the groups that there are', async () => {
  const statuses = new Map([
    ['llama', status({ doubted: gone(2, 0), failure: { reason: 'x', sinceMs: 0 } })],
    ['new', status({ list: undefined, waiting: 'no answer yet' })],
  ]);
  const metrics = new Metrics(
    () => [],
    () => NOW,
  );
  metrics.discovery.show(
    () => statuses,
    () => NOW,
  );
  metrics.discovery.failed('llama');
  const lines = async (): Promise<readonly string[]> =>
    (await metrics.page()).split('\n').filter((line) => line.startsWith('plimsoll_discovery_'));
  const page = await lines();
  for (const line of [
    'plimsoll_discovery_failing{server_group="llama"} 1',
    'plimsoll_discovery_failing{server_group="new"} 0',
    'plimsoll_discovery_waiting{server_group="new"} 1',
    'plimsoll_discovery_list_age_seconds{server_group="llama"} 3',
    'plimsoll_discovery_listed_backends{server_group="llama"} 8',
    'plimsoll_discovery_doubted_backends{server_group="llama"} 2',
    'plimsoll_discovery_failures_total{server_group="llama"} 1',
  ]) {
    assert.ok(page.includes(line), line);
  }
  assert.ok(!page.some((line) => line.startsWith('plimsoll_discovery_list_age_seconds{server_group="new"}')));
  statuses.delete('llama');
  metrics.forget('llama');
  assert.ok(!(await lines()).some((line) => line.includes('llama')));
});

test('a backend that drains is explained by that alone', () => {
  const fleet = new Fleet(2);
  fleet.step([{ running: 3 }, { running: 5 }]);
  fleet.reload([backend(1), backend(2, { draining: true })]);
  const { decision } = explanationOf(fleet.step([{ running: 4 }, { running: 6 }])).published;
  const [, of] = decision.backends;
  assert.ok(of !== undefined);
  const [heading, ...sentences] = backendLines(of, decision, undefined);
  assert.match(heading ?? '', /^10\.0\.3\.2:8000: DRAINING, weight [\d,]+, 0 % of new requests$/);
  assert.deepEqual(sentences, [
    'It drains: it ends what it has begun, and gets nothing new. Its weight is the one that it had.',
  ]);
});

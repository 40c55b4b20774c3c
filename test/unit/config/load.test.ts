import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Configuration } from '../../../src/core/model/configuration.ts';
import { formatMistake, loadConfiguration, parseConfiguration } from '../../../src/config/load.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { edit, GOOD } from './bad/bad-file.ts';

function good(text: string): Configuration {
  const result = parseConfiguration(text, 'good');
  if (result.kind === 'valid') return result.configuration;
  return assert.fail(result.mistakes.map(formatMistake).join('\n'));
}

const SMALL = 'ServerGroups: [{Name: llama, Servers: [{Address: 10.0.3.11, Port: 8000}]}]\n';

const XDS: Configuration['xds'] = {
  listen: { host: '127.0.0.1', port: 18_000 },
  drainSeconds: 10,
  tls: undefined,
  authorization: undefined,
  limits: {
    streams: 20_000,
    streamsPerIdentity: 1000,
    streamsPerConnection: 100,
    names: 1000,
    nameLength: 512,
    messageBytes: 1_048_576,
    requestsPerSecond: 100,
    newStreamsPerSecond: 2000,
    readSeconds: 30,
    ackSeconds: 60,
  },
  keepalive: { intervalSeconds: 30, timeoutSeconds: 10 },
  maxConnectionAgeSeconds: undefined,
};

test('a file becomes a configuration with every default', () => {
  assert.deepEqual(good(GOOD), {
    xds: XDS,
    admin: {
      listen: { host: '127.0.0.1', port: 9090 },
      tls: undefined,
      bearerTokenFile: undefined,
      hosts: [],
    },
    log: { level: 'info', format: 'auto' },
    serverGroups: [
      {
        name: 'llama',
        mode: 'Active',
        envoyLbPolicy: 'LeastRequest',
        retryAfterSeconds: 1,
        outlierDetection: true,
        healthCheck: undefined,
        mesh: 'None',
        locality: 'None',
        allowLinkLocal: false,
        drainSeconds: 30,
        discovery: undefined,
        servers: [
          { id: '10.0.3.11:8000', address: '10.0.3.11', port: 8000, weight: 100 },
          { id: '10.0.3.12:8000', address: '10.0.3.12', port: 8000, weight: 100 },
        ],
        loadAware: {
          collect: collectSettings(),
          balance: {
            scorers: [
              { name: 'TotalQueuedRequests', weight: 50 },
              { name: 'KVCacheUtilization', weight: 30 },
              { name: 'RunningRequests', weight: 20 },
            ],
            policy: 'Adaptive',
            saturation: {
              totalQueuedRequests: { mark: 10, clear: 3 },
              kvCacheUtilization: { mark: 0.98 },
              runningRequests: undefined,
              admission: 'Proportional',
            },
            onCollectFailure: 'Keep',
          },
        },
      },
    ],
    listeners: [{ name: 'inference', address: '0.0.0.0', port: 10_000, serverGroup: 'llama' }],
  });
});

test('an interval below a second', () => {
  const [group] = good(edit(['Interval: 1\n', 'IntervalMilliseconds: 250\n'])).serverGroups;
  assert.equal(group?.loadAware?.collect.intervalSeconds, 0.25);
  assert.deepEqual(group.loadAware.balance.saturation?.totalQueuedRequests, { mark: 10, clear: 3 });
});

test('the smallest file', () => {
  const { serverGroups, listeners, ...rest } = good(SMALL);
  assert.deepEqual(rest, {
    xds: XDS,
    admin: {
      listen: { host: '127.0.0.1', port: 9090 },
      tls: undefined,
      bearerTokenFile: undefined,
      hosts: [],
    },
    log: { level: 'info', format: 'auto' },
  });
  assert.deepEqual(listeners, []);
  assert.equal(serverGroups[0]?.envoyLbPolicy, 'RoundRobin');
  assert.equal(serverGroups[0].loadAware, undefined);
});

test('every optional field', () => {
  const configuration = good(
    edit(
      ['Xds: {', 'Log: {Level: debug, Format: json}\nXds: {DrainSeconds: 2.5, '],
      ['Scheduler: Wrr', 'EnvoyLbPolicy: RoundRobin\n    RetryAfterSeconds: 5\n    OutlierDetection: false'],
      ['Port: 8000, Weight: 100', 'Port: 8000, Weight: 0'],
      ['{Path: /metrics}', '{Host: metrics.example.com, Path: "/m?a=b", Method: POST}'],
      [
        '            Scorers:',
        '            Policy: Linear\n            OnCollectFailure: Remove\n            Saturation: {TotalQueuedRequests: {Mark: 7, Clear: 2}, KVCacheUtilization: {Mark: 0.9}, RunningRequests: {Mark: 256, Clear: 0}, Admission: None}\n            Scorers:',
      ],
    ),
  );
  assert.equal(configuration.xds.drainSeconds, 2.5);
  assert.deepEqual(configuration.log, { level: 'debug', format: 'json' });
  const [group] = configuration.serverGroups;
  assert.equal(group?.envoyLbPolicy, 'RoundRobin');
  assert.equal(group.retryAfterSeconds, 5);
  assert.equal(group.outlierDetection, false);
  assert.equal(group.servers[0]?.weight, 0);
  assert.deepEqual(
    group.loadAware?.collect,
    collectSettings({ host: 'metrics.example.com', path: '/m?a=b', method: 'POST', leanScrape: false }),
  );
  assert.equal(group.loadAware.balance.policy, 'Linear');
  assert.equal(group.loadAware.balance.onCollectFailure, 'Remove');
  assert.deepEqual(group.loadAware.balance.saturation, {
    totalQueuedRequests: { mark: 7, clear: 2 },
    kvCacheUtilization: { mark: 0.9 },
    runningRequests: { mark: 256, clear: 0 },
    admission: 'None',
  });
});

test('what sidecars are to do beside following weights', () => {
  const { serverGroups, listeners } = good(
    edit(
      [
        'Scheduler: Wrr',
        'Locality: Prefer\n    Mesh: Istio\n    HealthCheck: {Path: /health, UnhealthyThreshold: 2}',
      ],
      ['12, Port: 8000', '12, Zone: eu-west-1b, Port: 8000'],
      ['ServerGroup: llama', 'ServerGroup: llama, Affinity: {Header: X-Plimsoll-Backend}'],
    ),
  );
  const [group] = serverGroups;
  assert.deepEqual([group?.locality, group?.mesh], ['Prefer', 'Istio']);
  assert.deepEqual(
    group?.servers.map(({ zone }) => zone),
    [undefined, 'eu-west-1b'],
  );
  assert.deepEqual(group?.healthCheck, {
    path: '/health',
    intervalSeconds: 5,
    timeoutSeconds: 2,
    unhealthyThreshold: 2,
    healthyThreshold: 1,
  });
  // names of headers have no case; Envoy wants them in lower case
  assert.equal(listeners[0]?.affinityHeader, 'x-plimsoll-backend');
  assert.deepEqual(
    serverGroups.map(({ keepsSessions }) => keepsSessions),
    [true],
  );
  assert.equal(good(edit()).serverGroups[0]?.keepsSessions, undefined);
});

test('marks of queued requests by Interval, unless given', () => {
  const marks = (interval: number, saturation: string) =>
    good(
      edit(
        ['Interval: 1\n', `Interval: ${interval}\n`],
        ['            Scorers:', `            Saturation: ${saturation}\n            Scorers:`],
      ),
    ).serverGroups[0]?.loadAware?.balance.saturation?.totalQueuedRequests;
  assert.deepEqual(marks(9, '{}'), { mark: 10, clear: 3 });
  assert.deepEqual(marks(10, '{}'), { mark: 40, clear: 10 });
  assert.deepEqual(marks(50, '{TotalQueuedRequests: {}}'), { mark: 40, clear: 10 });
  assert.deepEqual(marks(10, '{TotalQueuedRequests: {Mark: 11}}'), { mark: 11, clear: 10 });
  assert.deepEqual(marks(10, '{TotalQueuedRequests: {Clear: 39}}'), { mark: 40, clear: 39 });
  assert.deepEqual(marks(10, '{TotalQueuedRequests: {Mark: 10, Clear: 3}}'), { mark: 10, clear: 3 });
  assert.deepEqual(marks(1, '{TotalQueuedRequests: {Mark: 4}}'), { mark: 4, clear: 3 });
  assert.equal(marks(1, 'false'), undefined);
});

const ALIKE: readonly (readonly [name: string, text: string])[] = [
  ['CRLF', GOOD.replaceAll('\n', '\r\n')],
  ['a byte order mark', `\uFEFF${GOOD}`],
  ['document markers', `%YAML 1.2\n---\n${GOOD}...\n`],
  ['comments and quotes', `# fleet\n${GOOD.replace('Name: llama', '"Name": \'llama\' # group')}`],
  ['other spellings of numbers', edit(['Port: 10000', 'Port: 0x2710'], ['Weight: 100', 'Weight: 1e2'])],
  [
    'an alias',
    edit(['Weight: 100', 'Weight: &w 100'], ['12, Port: 8000, Weight: 100', '12, Port: 8000, Weight: *w']),
  ],
  [
    'a service extension that nothing uses',
    edit([
      'ServiceExtensions:\n',
      'ServiceExtensions:\n  - {Name: spare, Components: [{Type: LoadAwareRouting, Config: {MetricCollector: {Timeout: 300, Interval: 50, HttpMetricCollect: {Path: /}}, Scheduler: {Scorers: [{Name: RunningRequests, Weight: 1}]}}}]}\n',
    ]),
  ],
];

for (const [name, text] of ALIKE) {
  test(`the same configuration with ${name}`, () => {
    assert.deepEqual(good(text), good(GOOD));
  });
}

const JSON_CONFIG = {
  MetricCollector: { Timeout: 1, Interval: 1, HttpMetricCollect: { Path: '/metrics' } },
  Scheduler: {
    Scorers: [
      { Name: 'TotalQueuedRequests', Weight: 50 },
      { Name: 'KVCacheUtilization', Weight: 30 },
      { Name: 'RunningRequests', Weight: 20 },
    ],
  },
};

test('a block in JSON pasted under a key, indented by spaces', () => {
  const start = GOOD.indexOf('        Config:');
  const end = GOOD.indexOf('Listeners:');
  const json = JSON.stringify(JSON_CONFIG, undefined, 2).replaceAll('\n', '\n          ');
  assert.deepEqual(
    good(`${GOOD.slice(0, start)}        Config:\n          ${json}\n${GOOD.slice(end)}`),
    good(GOOD),
  );
});

test('a whole file in JSON, indented by spaces, tabs or not at all', () => {
  const file = {
    ServerGroups: [
      {
        Name: 'llama',
        ServiceExtension: 'load-aware',
        Servers: [11, 12].map((last) => ({ Address: `10.0.3.${last}`, Port: 8000 })),
      },
    ],
    ServiceExtensions: [
      { Name: 'load-aware', Components: [{ Type: 'LoadAwareRouting', Config: JSON_CONFIG }] },
    ],
    Listeners: [{ Name: 'inference', Address: '0.0.0.0', Port: 10000, ServerGroup: 'llama' }],
  };
  for (const indent of [undefined, 2, '\t']) {
    assert.deepEqual(good(JSON.stringify(file, undefined, indent)), good(GOOD));
  }
});

test('addresses in canonical form', () => {
  const text = edit(
    ['127.0.0.1:18000', '"[::]:0"'],
    ['127.0.0.1:9090', '"[::FFFF:127.0.0.1]:0"'],
    ['10.0.3.11', '2001:DB8:0:0:0::1'],
    ['10.0.3.12', '::ffff:10.0.3.12'],
    ['0.0.0.0', '"0:0::0"'],
  );
  const { xds, admin, serverGroups, listeners } = good(text);
  assert.deepEqual(xds.listen, { host: '::', port: 0 });
  assert.deepEqual(admin.listen, { host: '127.0.0.1', port: 0 });
  assert.deepEqual(
    serverGroups[0]?.servers.map(({ id, address }) => [id, address]),
    [
      ['[2001:db8::1]:8000', '2001:db8::1'],
      ['10.0.3.12:8000', '10.0.3.12'],
    ],
  );
  assert.equal(listeners[0]?.address, '::');
});

test('what may be alike', () => {
  good('Xds: {Listen: 127.0.0.1:0}\nAdmin: {Listen: 127.0.0.1:0}\n' + SMALL);
  good('Xds: {Listen: 127.0.0.1:9090}\nAdmin: {Listen: 127.0.0.2:9090}\n' + SMALL);
  good(
    edit(['Listeners:\n', 'Listeners:\n  - {Name: six, Address: "::", Port: 10000, ServerGroup: llama}\n']),
  );
  good(
    edit(['Listeners:\n', 'Listeners:\n  - {Name: b, Address: 0.0.0.0, Port: 10001, ServerGroup: llama}\n']),
  );
  good(edit(['10.0.3.12, Port: 8000', '10.0.3.11, Port: 8001']));
  good(
    edit([
      'ServerGroups:\n',
      `ServerGroups:\n  - {Name: other, Servers: [{Address: 10.0.3.11, Port: 8000}]}\n`,
    ]),
  );
});

test('names that service meshes use', () => {
  for (const name of [
    'outbound|8000||llama.ns.svc.cluster.local',
    'lláma',
    '模型',
    "it's",
    'x'.repeat(256),
  ]) {
    const text = `ServerGroups: [{Name: ${JSON.stringify(name)}, Servers: [{Address: 10.0.3.11, Port: 8000}]}]`;
    assert.equal(good(text).serverGroups[0]?.name, name);
  }
});

async function firstMistake(file: string): Promise<string | undefined> {
  const result = await loadConfiguration(file);
  return result.kind === 'valid' ? undefined : result.mistakes.map(formatMistake).join('\n');
}

test('files that can be read and files that cannot', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-config-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'plimsoll.yaml');
  const loadBytes = async (bytes: string | Uint8Array): Promise<string | undefined> => {
    await writeFile(file, bytes);
    return firstMistake(file);
  };
  assert.equal(await loadBytes(GOOD), undefined);
  assert.equal(await loadBytes(`\uFEFF${GOOD}`), undefined);
  assert.equal(await loadBytes(GOOD + '#'.repeat(4 * 1024 * 1024 - GOOD.length)), undefined);
  assert.equal(
    await loadBytes(GOOD + '#'.repeat(4 * 1024 * 1024 - GOOD.length + 1)),
    `${file}:1:1: is larger than 4194304 bytes (4 MiB), the most that is read`,
  );
  assert.equal(
    await loadBytes(Buffer.from(`\uFEFF${GOOD}`, 'utf16le')),
    `${file}:1:1: is not UTF-8, the only encoding that is read`,
  );
  assert.equal(
    await loadBytes(Buffer.concat([Buffer.from(GOOD), Buffer.from([0x23, 0xff])])),
    `${file}:1:1: is not UTF-8, the only encoding that is read`,
  );
  assert.equal(await firstMistake(folder), `${folder}:1:1: cannot be read: it is a directory`);
  assert.equal(await firstMistake(`${file}.gone`), `${file}.gone:1:1: cannot be read: there is no such file`);
  assert.equal(
    await firstMistake(`${file}/more`),
    `${file}/more:1:1: cannot be read: a part of its path is not a directory`,
  );
});

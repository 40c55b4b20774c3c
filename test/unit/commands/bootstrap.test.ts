import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { type BootstrapOptions, bootstrap, makeBootstrap } from '../../../src/commands/bootstrap.ts';
import type { Configuration } from '../../../src/core/model/configuration.ts';
import { configuration, listener, serverGroup } from '../../support/configuration.ts';
import { xdsSettings } from '../../support/xds-settings.ts';
import { assertFile, assertGolden } from '../../support/golden.ts';

const ads = { mode: 'ads', json: false } as const;
const eds = { mode: 'eds', json: false } as const;
const twoGroups = [serverGroup('llama'), serverGroup('mistral', { envoyLbPolicy: 'RoundRobin' })];

function made(of: Configuration, options: Omit<BootstrapOptions, 'config'>): string {
  const result = makeBootstrap(of, options);
  assert.equal(result.kind, 'ok', JSON.stringify(result));
  return result.value;
}

/** The parts of a static bootstrap that depend on the configuration, as LISTENER→CLUSTER. */
function routesOf(text: string): readonly string[] {
  const { static_resources: resources } = parse(text) as {
    static_resources: { listeners: readonly object[]; clusters: readonly { name: string }[] };
  };
  assert.equal(resources.clusters.at(-1)?.name, 'plimsoll_xds');
  return resources.listeners.map((each) => {
    const json = JSON.stringify(each);
    const match = /"address":"([^"]+)","port_value":(\d+).*"route":\{"cluster":"([^"]+)"/.exec(json);
    return `${match?.[1]} ${match?.[2]} → ${match?.[3]}`;
  });
}

test('mode ads', () => {
  assertGolden('bootstrap/ads.yaml', made(configuration(), ads));
});

test('mode eds', () => {
  assertGolden('bootstrap/eds.yaml', made(configuration(), eds));
});

test('every option', () => {
  const text = made(configuration({ serverGroups: twoGroups, listeners: [] }), {
    mode: 'eds',
    group: 'mistral',
    xds: ['plimsoll.example:18001'],
    nodeId: 'sidecar-7',
    cluster: 'edge',
    adminPort: 0,
    json: false,
  });
  assertGolden('bootstrap/eds-every-option.yaml', text);
});

for (const mode of ['ads', 'eds'] as const) {
  test(`--json gives the same for mode ${mode}`, () => {
    const json = made(configuration(), { mode, json: true });
    assert.deepEqual(JSON.parse(json), parse(made(configuration(), { mode, json: false })));
  });
}

test('eds: the listeners of the configuration, one cluster for each group that they use', () => {
  const listeners = [
    listener('llama', { name: 'one', port: 10_001 }),
    listener('llama', { name: 'two', port: 10_002 }),
    listener('mistral', { name: 'three', address: '::1', port: 10_003 }),
  ];
  const text = made(configuration({ serverGroups: [...twoGroups, serverGroup('idle')], listeners }), eds);
  assert.deepEqual(routesOf(text), ['0.0.0.0 10001 → llama', '0.0.0.0 10002 → llama', '::1 10003 → mistral']);
  assert.deepEqual(
    (parse(text) as { static_resources: { clusters: { name: string }[] } }).static_resources.clusters.map(
      (cluster) => cluster.name,
    ),
    ['llama', 'mistral', 'plimsoll_xds'],
  );
});

test('eds: --group chooses among the listeners; a group without one gets 127.0.0.1:10000', () => {
  const of = configuration({ serverGroups: twoGroups });
  assert.deepEqual(routesOf(made(of, { ...eds, group: 'llama' })), ['0.0.0.0 10000 → llama']);
  assert.deepEqual(routesOf(made(of, { ...eds, group: 'mistral' })), ['127.0.0.1 10000 → mistral']);
});

test('eds: a configuration with one group and no Listeners needs no --group', () => {
  assert.deepEqual(routesOf(made(configuration({ listeners: [] }), eds)), ['127.0.0.1 10000 → llama']);
});

for (const [option, host, port, type] of [
  ['10.0.0.5:18001', '10.0.0.5', 18_001, 'STATIC'],
  ['[2001:db8::5]:1', '2001:db8::5', 1, 'STATIC'],
  ['plimsoll.example:65535', 'plimsoll.example', 65_535, 'STRICT_DNS'],
] as const) {
  test(`--xds ${option}`, () => {
    const listen = { host: '0.0.0.0', port: 18_000 };
    const of = configuration({ xds: { ...xdsSettings(), listen } });
    const text = made(of, { ...ads, xds: [option] });
    assert.ok(text.includes(`come from Plimsoll at ${option}.`), text);
    const [cluster] = (parse(text) as { static_resources: { clusters: { type: string }[] } }).static_resources
      .clusters;
    assert.equal(cluster?.type, type);
    assert.ok(JSON.stringify(cluster).includes(`"address":"${host}","port_value":${port}`));
  });
}

test('--xds once for each replica: each is an endpoint, and one name makes all of them be resolved', () => {
  const endpointsOf = (xds: readonly string[]) => {
    const text = made(configuration(), { ...ads, xds });
    const [cluster] = (
      parse(text) as {
        static_resources: {
          clusters: {
            type: string;
            load_assignment: { endpoints: { lb_endpoints: { endpoint: { address: unknown } }[] }[] };
          }[];
        };
      }
    ).static_resources.clusters;
    const endpoints = cluster?.load_assignment.endpoints.flatMap(({ lb_endpoints: of }) => of);
    return { text, type: cluster?.type, addresses: endpoints?.map(({ endpoint }) => endpoint.address) };
  };
  const [one, other] = [
    { socket_address: { address: '10.0.0.5', port_value: 18_000 } },
    { socket_address: { address: 'b.example', port_value: 18_001 } },
  ];
  const { text, ...both } = endpointsOf(['10.0.0.5:18000', 'b.example:18001']);
  assert.deepEqual(both, { type: 'STRICT_DNS', addresses: [one, other] });
  assert.ok(text.includes('come from Plimsoll at 10.0.0.5:18000 and b.example:18001.'), text);
  assert.equal(endpointsOf(['10.0.0.5:18000', '10.0.0.6:18000']).type, 'STATIC');
});

const xdsForm =
  'expected HOST:PORT that sidecars can connect to, such as 10.0.0.5:18000, [2001:db8::5]:18000 or plimsoll.example:18000';
const refusals: readonly (readonly [string, Configuration, Omit<BootstrapOptions, 'config'>, string])[] = [
  ...[
    '10.0.0.5',
    '10.0.0.5:',
    ':18000',
    '10.0.0.5:0',
    '10.0.0.5:65536',
    '2001:db8::5:18000',
    '[10.0.0.5]:1',
  ].map(
    (xds) => [`--xds ${xds}`, configuration(), { ...ads, xds: [xds] }, `--xds ${xds}: ${xdsForm}`] as const,
  ),
  [
    'the same --xds twice',
    configuration(),
    { ...ads, xds: ['10.0.0.5:18000', '10.0.0.6:18000', '10.0.0.5:18000'] },
    '--xds 10.0.0.5:18000: named twice',
  ],
  ...['0.0.0.0:18000', '[::]:18000', '10.0.0.256:18000', 'a b:1', '[fe80::1%eth0]:1', ''].map(
    (xds) => [`--xds ${xds}`, configuration(), { ...ads, xds: [xds] }, `--xds ${xds}: ${xdsForm}`] as const,
  ),
  ...[
    ['0.0.0.0', 18_000, '0.0.0.0:18000'],
    ['::', 18_000, '[::]:18000'],
    ['127.0.0.1', 0, '127.0.0.1:0'],
  ].map(
    ([host, port, shown]) =>
      [
        `Listen ${shown} without --xds`,
        configuration({ xds: { ...xdsSettings(), listen: { host: String(host), port: Number(port) } } }),
        eds,
        `--xds HOST:PORT is needed: Xds.Listen is ${shown}, which no sidecar can connect to`,
      ] as const,
  ),
  [
    'ads without Listeners',
    configuration({ listeners: [] }),
    ads,
    '--mode ads needs Listeners in the configuration, it has none: a sidecar would listen nowhere. Add some, or use --mode eds',
  ],
  [
    'ads with --group',
    configuration(),
    { ...ads, group: 'llama' },
    '--group is for --mode eds; with ads the Listeners name the groups',
  ],
  [
    'eds with a group that is not there',
    configuration({ serverGroups: twoGroups }),
    { ...eds, group: 'lama' },
    '--group lama: no server group has this name, there are: llama, mistral',
  ],
  [
    'eds with several groups and no Listeners',
    configuration({ serverGroups: twoGroups, listeners: [] }),
    eds,
    '--group is needed: the configuration has no Listeners and several server groups: llama, mistral',
  ],
  [
    'an empty node id',
    configuration(),
    { ...ads, nodeId: '' },
    '--node-id and --cluster must not be empty: Envoy needs both',
  ],
];
for (const [name, of, options, reason] of refusals) {
  test(`refused: ${name}`, () => {
    assert.deepEqual(makeBootstrap(of, options), { kind: 'refused', reason });
  });
}

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(options: BootstrapOptions): Promise<Outcome> {
  let out = '';
  let err = '';
  const code = await bootstrap(options, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

const deployed = fileURLToPath(new URL('../../../deploy/plimsoll.yaml', import.meta.url));

for (const mode of ['ads', 'eds'] as const) {
  test(`deploy/envoy/${mode}.yaml is what the command prints for deploy/plimsoll.yaml`, async () => {
    const { code, out, err } = await run({ config: deployed, mode, json: false });
    assert.deepEqual({ code, err }, { code: 0, err: '' });
    assertFile(new URL(`../../../deploy/envoy/${mode}.yaml`, import.meta.url), out);
  });
}

const deployedTls = fileURLToPath(new URL('../../../deploy/examples/tls.yaml', import.meta.url));

for (const mode of ['ads', 'eds'] as const) {
  test(`deploy/envoy/${mode}-tls.yaml is what the command prints for deploy/examples/tls.yaml`, async () => {
    const files = { ca: '/etc/envoy/ca.crt', cert: '/etc/envoy/sidecar.crt', key: '/etc/envoy/sidecar.key' };
    const xds = 'plimsoll.example:18000';
    const group = mode === 'eds' ? { group: 'llama' } : {};
    const { code, out, err } = await run({
      config: deployedTls,
      mode,
      ...group,
      xds: [xds],
      ...files,
      json: false,
    });
    assert.deepEqual({ code, err }, { code: 0, err: '' });
    assertFile(new URL(`../../../deploy/envoy/${mode}-tls.yaml`, import.meta.url), out);
  });
}

test('--zone is where the sidecar says that it runs', async () => {
  const { out } = await run({ config: deployed, mode: 'ads', zone: 'eu-west-1a', json: true });
  const { node } = JSON.parse(out) as { readonly node: object };
  assert.deepEqual(node, { id: 'sidecar', cluster: 'inference', locality: { zone: 'eu-west-1a' } });
  const empty = await run({ config: deployed, mode: 'ads', zone: '', json: true });
  assert.equal(empty.err, 'plimsoll bootstrap: --zone must not be empty: leave it out where there is none\n');
});

test('options that do not go with the configuration: exit code 64, nothing printed', async () => {
  assert.deepEqual(await run({ config: deployed, mode: 'eds', group: 'lama', json: false }), {
    code: 64,
    out: '',
    err: 'plimsoll bootstrap: --group lama: no server group has this name, there are: llama\n',
  });
});

test('a configuration that cannot be read: exit code 64, nothing printed', async () => {
  assert.deepEqual(await run({ config: '/nowhere/plimsoll.yaml', mode: 'ads', json: false }), {
    code: 64,
    out: '',
    err: '/nowhere/plimsoll.yaml:1:1: cannot be read: there is no such file\n',
  });
});

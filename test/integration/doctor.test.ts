import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { doctor } from '../../src/commands/doctor.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import type { Mend, Severity } from '../../src/doctor/finding.ts';
import type { MergedFinding } from '../../src/doctor/merged.ts';
import { BadControlPlane } from '../support/bad-control-plane.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { bootstrapOf, configure, startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

interface Answer {
  readonly exit: number;
  readonly out: string;
}

async function run(envoy: Envoy, admin: readonly string[], json: boolean): Promise<Answer> {
  let out = '';
  const exit = await doctor(
    { envoyAdmin: `http://${envoy.admin}`, admin, json, color: false },
    { out: (text) => (out += text), err: (text) => (out += text) },
  );
  return { exit, out };
}

async function findingsOf(envoy: Envoy, ...admin: readonly string[]): Promise<readonly MergedFinding[]> {
  const { out } = await run(envoy, admin, true);
  return (JSON.parse(out) as { findings: MergedFinding[] }).findings;
}

const backends = [1, 2].map((last) => new GaugeBackend(`127.0.83.${last}`));
const options = { backends, scheduler: 'Saturation: {Admission: None}' };
const badPlane = new BadControlPlane('llama');
let voyage: Voyage;
let xdsPort = 0;
let badPort = 0;
let folder = '';
const cleanups = new Cleanups();

before(async () => {
  const made = mkdtemp(join(tmpdir(), 'plimsoll-doctor-'));
  folder = await cleanups.own(made, (path) => rm(path, { recursive: true, force: true }));
  await startBackends(backends, cleanups);
  for (const backend of backends) backend.moving = true;
  cleanups.add(() => {
    badPlane.stop();
  });
  badPort = await badPlane.start();
  voyage = await Voyage.start(
    {
      ...options,
      rewrite: (bootstrap) => {
        xdsPort = Number(/port_value: ([1-9]\d*)/.exec(bootstrap)?.[1]);
        return bootstrap;
      },
    },
    cleanups,
  );
  await voyage.until('the endpoints', (held) => held.size === backends.length);
});
after(() => cleanups.run());

describe('an Envoy with a bootstrap of ours', () => {
  test('ads: all is right', async () => {
    const { exit, out } = await run(voyage.envoy, [voyage.admin], false);
    assert.match(out, /\nAll \d+ are right\.\n$/);
    assert.match(out, /^✓ version_text: [0-9a-f]{20}, as published$/m);
    assert.match(out, /^✓ eds_config: llama from plimsoll_xds, over ADS, delta$/m);
    assert.equal(exit, 0);
  });

  test('eds: all is right', async () => {
    const envoy = await Envoy.start({ bootstrap: bootstrapOf(configure(options), xdsPort, 'eds') });
    try {
      await waitFor('the endpoints', async () => (await envoy.clusters()).length > backends.length);
      const { exit, out } = await run(envoy, [voyage.admin], false);
      assert.match(out, /\nAll \d+ are right\.\n$/);
      assert.match(out, /^✓ eds_config: llama from plimsoll_xds, over a stream of its own, delta$/m);
      assert.equal(exit, 0);
    } finally {
      await envoy.stop();
    }
  });

  test('another Plimsoll than the one it follows: its versions are not compared, another EnvoyLbPolicy is', async () => {
    const others = new Cleanups();
    const different = { backends, weights: [100, 50], group: 'EnvoyLbPolicy: RoundRobin' };
    const other = await Voyage.start(different, others);
    try {
      const findings = await findingsOf(voyage.envoy, other.admin);
      assert.deepEqual(
        findings.filter(({ severity }) => severity !== 'ok').map(({ check, severity }) => [check, severity]),
        [['lb_policy', 'error']],
      );
      assert.match(findings.find(({ check }) => check === 'version_text')?.is ?? '', /^\w+, not compared: /);
      const policy = findings.find(({ severity }) => severity === 'error');
      assert.equal(policy?.is, 'LEAST_REQUEST');
      assert.equal(policy.shouldBe, "as the group's EnvoyLbPolicy says: RoundRobin");
      assert.deepEqual(policy.mend, { into: 'cluster', yaml: 'lb_policy: ROUND_ROBIN\n' });
      const both = await findingsOf(voyage.envoy, other.admin, voyage.admin);
      assert.match(both.find(({ check }) => check === 'version_text')?.is ?? '', /, as published$/);
    } finally {
      await others.run();
    }
  });
});

/** What must be found in {@link wrongBootstrap}: the cluster, the check, how bad, and what is. */
const FOUND: readonly (readonly [cluster: string, check: string, severity: Severity, is: string | RegExp])[] =
  [
    ['', 'update_rejected', 'error', /^listener broken: /],
    // nothing but what an EDS cluster must have
    ['bare', 'retry_back_off', 'warning', 'not set'],
    ['bare', 'connected_state', 'ok', 'connected to the control plane'],
    ['bare', 'service_name', 'ok', 'llama, a server group of Plimsoll'],
    ['bare', 'eds_config', 'ok', 'llama from plimsoll_xds, over a stream of its own, state of the world'],
    ['bare', 'version_text', 'ok', /as published$/],
    ['bare', 'initial_fetch_timeout', 'warning', 'not set, so 15 s'],
    ['bare', 'healthy_panic_threshold', 'error', 'not set, so 50 %'],
    ['bare', 'update_merge_window', 'warning', 'not set, so 1 s on older releases'],
    ['bare', 'lb_policy', 'error', 'ROUND_ROBIN'],
    ['bare', 'circuit_breakers', 'error', /^max_connections not set, so 1024, max_pending_requests not/],
    ['bare', 'max_retries', 'warning', 'not set, so 3'],
    ['bare', 'idle_timeout', 'warning', 'not set, so 1 h'],
    ['bare', 'outlier_detection', 'warning', 'not set'],
    ['bare', 'timeout', 'error', 'not set, so 15 s'],
    ['bare', 'stream_idle_timeout', 'ok', 'not set, so 300 s'],
    ['bare', 'retry_policy', 'warning', 'not set'],
    ['bare', 'local_reply_config', 'warning', 'UH is not mapped, NC is not mapped, DO is not mapped'],
    // everything set, and wrong
    ['odd', 'initial_fetch_timeout', 'error', '0 s, which is without end'],
    ['odd', 'healthy_panic_threshold', 'error', '30 %'],
    ['odd', 'update_merge_window', 'warning', '2 s'],
    ['odd', 'lb_policy', 'error', 'RANDOM'],
    ['odd', 'locality_weighted_lb_config', 'warning', 'set'],
    ['odd', 'circuit_breakers', 'warning', 'max_requests 2000'],
    ['odd', 'idle_timeout', 'warning', '60 s'],
    ['odd', 'outlier_detection', 'warning', 'max_ejection_percent 100'],
    ['odd', 'outlier_detection', 'warning', 'consecutive_5xx 1'],
    ['odd', 'outlier_detection', 'warning', 'enforcing_success_rate is not 0'],
    ['odd', 'timeout', 'warning', '60 s'],
    ['odd', 'max_stream_duration', 'warning', "the route's max_stream_duration is 90 s"],
    ['odd', 'max_stream_duration', 'warning', "the listener's max_stream_duration is 120 s"],
    ['odd', 'max_stream_duration', 'warning', "the cluster's max_stream_duration is 30 s"],
    ['odd', 'max_stream_duration', 'warning', 'per_try_timeout is 20 s'],
    ['odd', 'stream_idle_timeout', 'error', '20 s'],
    ['odd', 'retry_policy', 'warning', 'retry_on has 5xx'],
    ['odd', 'retry_policy', 'warning', 'without previous_hosts in retry_host_predicate'],
    [
      'odd',
      'local_reply_config',
      'warning',
      'UH is answered 429, NC is without retry-after, DO is not mapped',
    ],
    // policies
    ['greedy', 'lb_policy', 'warning', 'LEAST_REQUEST, active_request_bias not set, so 1'],
    ['greedy', 'slow_start_config', 'warning', 'set'],
    ['greedy', 'routes', 'warning', 'none leads here by name'],
    ['own-weights', 'lb_policy', 'error', 'ClientSideWeightedRoundRobin'],
    // no endpoints
    ['nobody', 'service_name', 'error', 'nobody'],
    ['nobody', 'endpoints', 'error', 'none'],
    ['refusing', 'update_rejected', 'error', '1'],
    ['refusing', 'endpoints', 'error', 'none'],
    ['deaf', 'connected_state', 'error', 'not connected to the control plane'],
    ['deaf', 'version_text', 'warning', 'unknown'],
    // the ways to control planes
    ['plimsoll_xds', 'http2_protocol_options', 'warning', 'set, without connection_keepalive'],
    ['plimsoll_xds', 'tls', 'warning', /^none, to 0\.0\.0\.0:\d+$/],
    ['deaf_xds', 'http2_protocol_options', 'error', 'not set, so HTTP/1.1'],
  ];

test('an Envoy that has never got through to its whole control plane', async () => {
  const made = bootstrapOf(configure(options), 1, 'ads');
  const envoy = await Envoy.start({ bootstrap: made.replaceAll('fetch_timeout: 5s', 'fetch_timeout: 0.1s') });
  try {
    const findings = await findingsOf(envoy, voyage.admin);
    assert.deepEqual(
      findings.filter(({ severity }) => severity === 'error').map(({ check, is }) => [check, is]),
      [
        ['clusters', 'none takes its endpoints from a control plane that may be Plimsoll'],
        ['connected_state', 'not connected to the control plane'],
      ],
    );
  } finally {
    await envoy.stop();
  }
});

describe('an Envoy that is wrong in many ways', () => {
  let envoy: Envoy;
  let findings: readonly MergedFinding[] = [];

  before(async () => {
    const lds = join(folder, 'lds.json');
    await writeFile(lds, JSON.stringify({ resources: [brokenListener] }));
    const starting = Envoy.start({ bootstrap: JSON.stringify(wrongBootstrap(lds)) });
    envoy = await cleanups.own(starting, (started) => started.stop());
    await waitFor('the refusal', async () =>
      (await envoy.stats(/^cluster\.refusing\.update_rejected$/)).get('cluster.refusing.update_rejected'),
    );
    findings = await findingsOf(envoy, voyage.admin);
  });

  for (const [cluster, check, severity, is] of FOUND) {
    test(`${cluster || 'Envoy'}: ${check} ${String(is)}`, () => {
      const known = findings.filter(
        (one) => one.check === check && (one.places[0]?.cluster ?? '') === cluster,
      );
      const found = known.find((one) => (typeof is === 'string' ? one.is === is : is.test(one.is)));
      assert.ok(found, `there are: ${known.map((one) => one.is).join('; ')}`);
      assert.equal(found.severity, severity);
    });
  }

  test('where all is put in that is told to mend, all is right', async () => {
    const mended = await Envoy.start({ bootstrap: JSON.stringify(mendedBootstrap(findings)) });
    try {
      await waitFor('the endpoints', async () => (await mended.clusters()).length > backends.length);
      const { exit, out } = await run(mended, [voyage.admin], false);
      assert.match(out, /\nAll \d+ are right\.\n$/);
      assert.equal(exit, 0);
    } finally {
      await mended.stop();
    }
  });

  test('as text: what is, what should be, why, and YAML; exit code 1', async () => {
    const { exit, out } = await run(envoy, [voyage.admin], false);
    assert.equal(exit, 1);
    assert.match(
      out,
      /^✗ healthy_panic_threshold: not set, so 50 %; should be 0 %\n {4}Once less than 50 % are healthy .*\n {4}In the cluster:\n {8}common_lb_config:\n {8} {2}healthy_panic_threshold:\n {8} {4}value: 0\n/m,
    );
    assert.match(out, /\n\d+ errors, \d+ warnings, \d+ right\n$/);
  });
});

test('saturated backends: what UNHEALTHY means', async () => {
  const saturated = { queued: 20, running: 30, kv: 0.9, finished: 0 };
  const endpoints = async () => (await findingsOf(voyage.envoy)).find(({ check }) => check === 'endpoints');
  const [first] = backends;
  assert.ok(first);
  first.gauges = saturated;
  await voyage.until('the mark', (held) => held.get(first.id)?.health === 'UNHEALTHY');
  const one = await endpoints();
  assert.deepEqual(
    [one?.severity, one?.is],
    ['ok', '2: 1 take requests, 1 UNHEALTHY, which is saturated: no new requests'],
  );
  for (const backend of backends) backend.gauges = saturated;
  await voyage.until('all marks', (held) => [...held.values()].every(({ health }) => health === 'UNHEALTHY'));
  const all = await endpoints();
  assert.deepEqual(
    [all?.severity, all?.is],
    ['warning', '2: 0 take requests, 2 UNHEALTHY, which is saturated: no new requests'],
  );
});

// ---------------------------------------------------------------- the wrong bootstrap

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const HTTP_TYPE = `type.googleapis.com/${HTTP_OPTIONS}`;
const MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';
const BALANCING = 'envoy.extensions.load_balancing_policies';

/** A route configuration that an HTTP connection manager cannot do without is missing. */
const brokenListener = {
  '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
  ...listener('broken', {}),
};

function wrongBootstrap(lds: string): object {
  const http2 = { explicit_http_config: { http2_protocol_options: {} } };
  return {
    node: { id: 'wrong', cluster: 'inference' },
    admin: { address: socket('127.0.0.1', 0) },
    dynamic_resources: { lds_config: { resource_api_version: 'V3', path_config_source: { path: lds } } },
    static_resources: {
      listeners: [
        listener('to-bare', { route_config: routes('bare', {}) }),
        listener('to-odd', {
          route_config: routes('odd', {
            timeout: '60s',
            max_stream_duration: { max_stream_duration: '90s' },
            retry_policy: { retry_on: '5xx', per_try_timeout: '20s' },
          }),
          stream_idle_timeout: '20s',
          common_http_protocol_options: { max_stream_duration: '120s' },
          local_reply_config: {
            mappers: [mapper('UH', { status_code: 429 }), mapper('NC', { body: { inline_string: 'none' } })],
          },
        }),
      ],
      clusters: [
        eds('bare', 'plimsoll_xds', {}, { api_type: 'GRPC' }),
        eds(
          'odd',
          'plimsoll_xds',
          {
            lb_policy: 'RANDOM',
            common_lb_config: {
              healthy_panic_threshold: { value: 30 },
              update_merge_window: '2s',
              locality_weighted_lb_config: {},
            },
            circuit_breakers: {
              thresholds: [{ max_connections: 100_000, max_pending_requests: 100_000, max_requests: 2000 }],
            },
            outlier_detection: { consecutive_5xx: 1, max_ejection_percent: 100 },
            typed_extension_protocol_options: {
              [HTTP_OPTIONS]: {
                '@type': HTTP_TYPE,
                common_http_protocol_options: { idle_timeout: '60s', max_stream_duration: '30s' },
                explicit_http_config: { http_protocol_options: {} },
              },
            },
          },
          { initial_fetch_timeout: '0s' },
        ),
        eds('greedy', 'plimsoll_xds', {
          lb_policy: 'LEAST_REQUEST',
          least_request_lb_config: { slow_start_config: { slow_start_window: '30s' } },
        }),
        eds('own-weights', 'plimsoll_xds', {
          load_balancing_policy: {
            policies: [
              {
                typed_extension_config: {
                  name: 'own',
                  typed_config: {
                    '@type': `type.googleapis.com/${BALANCING}.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin`,
                  },
                },
              },
            ],
          },
        }),
        eds('nobody', 'plimsoll_xds', { eds_service_name: 'nobody' }),
        eds('refusing', 'bad_xds', {}, { initial_fetch_timeout: '0.3s' }),
        eds('deaf', 'deaf_xds', {}, { initial_fetch_timeout: '0.3s' }),
        // 0.0.0.0 is this machine, but no loopback address by its looks
        reached('plimsoll_xds', '0.0.0.0', xdsPort, http2),
        reached('bad_xds', '127.0.0.1', badPort, http2),
        reached('deaf_xds', '127.0.0.1', xdsPort, undefined),
      ],
    },
  };
}

/** The part of {@link wrongBootstrap} about the cluster `bare`, with everything put in that the findings tell. */
function mendedBootstrap(findings: readonly MergedFinding[]): object {
  const told = (cluster: string, into: Mend['into']): readonly Tree[] =>
    findings.flatMap(({ check, places, mend }) =>
      // without TLS the server would not be understood with it
      places[0]?.cluster === cluster && mend?.into === into && check !== 'tls'
        ? [parse(mend.yaml) as Tree]
        : [],
    );
  const source = { api_type: 'GRPC', transport_api_version: 'V3' };
  const api = told('bare', 'api_config_source').reduce(joined, source);
  const cluster = told('bare', 'cluster').reduce(joined, {
    name: 'bare',
    type: 'EDS',
    eds_cluster_config: {
      service_name: 'llama',
      eds_config: { resource_api_version: 'V3', api_config_source: api },
    },
  });
  const route = told('bare', 'route').reduce(joined, { match: { prefix: '/' }, route: { cluster: 'bare' } });
  const hosts = [{ name: 'all', domains: ['*'], routes: [route] }];
  const manager = told('bare', 'http_connection_manager').reduce(joined, {
    route_config: { name: 'bare', virtual_hosts: hosts },
  });
  const plane = reached('plimsoll_xds', '127.0.0.1', xdsPort, undefined);
  return {
    node: { id: 'mended', cluster: 'inference' },
    admin: { address: socket('127.0.0.1', 0) },
    static_resources: {
      listeners: [listener('to-bare', manager)],
      clusters: [cluster, told('plimsoll_xds', 'cluster').reduce(joined, plane as Tree)],
    },
  };
}

type Tree = Readonly<Record<string, unknown>>;

function joined(into: Tree, from: Tree): Tree {
  const isTree = (value: unknown): value is Tree =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const all: Record<string, unknown> = { ...into };
  for (const [name, value] of Object.entries(from)) {
    const known = all[name];
    all[name] = isTree(known) && isTree(value) ? joined(known, value) : value;
  }
  return all;
}

/** @param api of the source: `initial_fetch_timeout` and `api_type` */
function eds(
  name: string,
  controlPlane: string,
  { eds_service_name: serviceName = 'llama', ...fields }: Record<string, unknown>,
  { api_type: apiType = 'DELTA_GRPC', ...source }: Record<string, unknown> = {},
): object {
  return {
    name,
    type: 'EDS',
    connect_timeout: '1s',
    eds_cluster_config: {
      service_name: serviceName,
      eds_config: {
        resource_api_version: 'V3',
        api_config_source: {
          api_type: apiType,
          transport_api_version: 'V3',
          grpc_services: [{ envoy_grpc: { cluster_name: controlPlane } }],
        },
        ...source,
      },
    },
    ...fields,
  };
}

function reached(name: string, address: string, port: number, http: object | undefined): object {
  return {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socket(address, port) } }] }],
    },
    ...(http === undefined
      ? {}
      : { typed_extension_protocol_options: { [HTTP_OPTIONS]: { '@type': HTTP_TYPE, ...http } } }),
  };
}

function listener(name: string, manager: object): object {
  const config = {
    '@type': `type.googleapis.com/${MANAGER}`,
    stat_prefix: name,
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: { '@type': ROUTER } }],
    ...manager,
  };
  return {
    name,
    address: socket('127.0.0.1', 0),
    enable_reuse_port: false,
    filter_chains: [
      { filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: config }] },
    ],
  };
}

function routes(cluster: string, action: object): object {
  const route = { match: { prefix: '/' }, route: { cluster, ...action } };
  return { name: cluster, virtual_hosts: [{ name: 'all', domains: ['*'], routes: [route] }] };
}

function mapper(flag: string, fields: object): object {
  return { filter: { response_flag_filter: { flags: [flag] } }, ...fields };
}

function socket(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

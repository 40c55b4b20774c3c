import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { diagnose } from '../../../src/doctor/diagnose.ts';
import type { Finding } from '../../../src/doctor/finding.ts';
import { merged } from '../../../src/doctor/merged.ts';
import type { PlimsollView } from '../../../src/doctor/plimsoll-view.ts';
import { type EnvoyPages, readView } from '../../../src/doctor/read-view.ts';
import { type DumpParts, envoyPages, type Tree } from '../../support/envoy-pages.ts';

const PLIMSOLL: PlimsollView = {
  groups: new Map([
    ['llama', { acknowledged: ['v1'], versions: ['v1'], envoyLbPolicy: 'LeastRequest', zones: [] }],
  ]),
};

function findingsOf(change?: (parts: DumpParts) => void, plimsoll?: PlimsollView): readonly Finding[] {
  return diagnose(readView(envoyPages(change)), plimsoll);
}

/** What is not right, as `severity check: is`. */
function faultsOf(findings: readonly Finding[]): readonly string[] {
  return findings
    .filter(({ severity }) => severity !== 'ok')
    .map(({ severity, check, is }) => `${severity} ${check}: ${is}`);
}

/** Puts fields into a message, and into those in it. */
function put(into: Tree, fields: Tree): void {
  for (const [name, value] of Object.entries(fields)) {
    const before = into[name];
    const isTree = typeof before === 'object' && !Array.isArray(before) && typeof value === 'object';
    if (isTree && before !== null && value !== null && !Array.isArray(value))
      put(before as Tree, value as Tree);
    else if (value === undefined) delete into[name];
    else into[name] = value;
  }
}

const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';

function tls(context: Tree): Tree {
  return {
    transport_socket: { typed_config: { '@type': TLS, common_tls_context: context } },
  };
}

function mapper(filter: Tree, fields: Tree = {}): Tree {
  const headers = [{ header: { key: 'Retry-After', value: '1' } }];
  return { filter, body: { inline_string: 'none' }, headers_to_add: headers, ...fields };
}

/** Another way to the control plane. */
function grpcService(service: Tree): Tree {
  return { eds_cluster_config: { eds_config: { api_config_source: { grpc_services: [service] } } } };
}

function google(target: string, fields: Tree = {}): Tree {
  const service = {
    target_uri: target,
    stat_prefix: 'plimsoll_xds',
    channel_args: { args: { 'grpc.keepalive_time_ms': { int_value: '30000' } } },
    ...fields,
  };
  return grpcService({ google_grpc: service });
}

function sessions(fields: Tree): Tree {
  const type = 'type.googleapis.com/envoy.extensions.filters.http.stateful_session.v3.StatefulSession';
  return { http_filters: [{ typed_config: { '@type': type, ...fields } }] };
}

const LOCAL_CLUSTER = { bootstrap: { cluster_manager: { local_cluster_name: 'inference' } } };

const flags = (...of: readonly string[]): Tree => ({ response_flag_filter: { flags: of } });
const status = (op: string | undefined, value: number): Tree => ({
  status_code_filter: { comparison: { ...(op && { op }), value: { default_value: value } } },
});
const mappers =
  (...list: readonly Tree[]) =>
  ({ manager }: DumpParts) =>
    put(manager, { local_reply_config: { mappers: list } });

/** A change of what is right, and all that is then not right. */
const CHANGES: readonly (readonly [string, (parts: DumpParts) => void, ...faults: readonly string[]])[] = [
  ['nothing', () => undefined],
  // ---- Envoy
  [
    'an old Envoy',
    ({ server }) => put(server, { version: 'x/1.39.2/Clean/RELEASE/B' }),
    'warning version: 1.39.2',
  ],
  ['a newer one', ({ server }) => put(server, { version: 'x/1.41.0-dev/Clean/RELEASE/B' })],
  ['no version', ({ server }) => put(server, { version: 'x' }), 'warning version: unknown'],
  ['not up yet', ({ server }) => put(server, { state: 'INITIALIZING' }), 'warning state: INITIALIZING'],
  ['going down', ({ server }) => put(server, { state: 'DRAINING' }), 'warning state: DRAINING'],
  [
    'refused routes',
    ({ stats }) => put(stats, { 'http.a.rds.b.update_rejected': 2 }),
    'warning update_rejected: http.a.rds.b.update_rejected is 2',
  ],
  // ---- the way to the control plane
  [
    'TLS without a name',
    ({ controlPlane }) => put(controlPlane, tls({ validation_context: { trusted_ca: { filename: 'ca' } } })),
    'warning tls: set, without match_typed_subject_alt_names',
  ],
  [
    'TLS that believes everybody',
    ({ controlPlane }) => put(controlPlane, tls({})),
    'warning tls: set, without trusted_ca and match_typed_subject_alt_names',
  ],
  [
    'TLS by SDS',
    ({ controlPlane }) =>
      put(controlPlane, tls({ validation_context_sds_secret_config: { name: 'authority' } })),
  ],
  [
    'another machine',
    ({ controlPlane }) =>
      put(controlPlane, {
        load_assignment: {
          endpoints: [
            {
              lb_endpoints: [
                { endpoint: { address: { socket_address: { address: '10.0.0.5', port_value: 18_000 } } } },
              ],
            },
          ],
        },
      }),
    'warning tls: none, to 10.0.0.5:18000',
  ],
  [
    'a Unix socket',
    ({ controlPlane }) =>
      put(controlPlane, {
        load_assignment: {
          endpoints: [{ lb_endpoints: [{ endpoint: { address: { pipe: { path: '/run/xds' } } } }] }],
        },
      }),
  ],
  [
    'not connected',
    ({ stats }) => put(stats, { 'cluster.llama.control_plane.connected_state': 0 }),
    'error connected_state: not connected to the control plane',
  ],
  [
    'a control plane that is no cluster of this Envoy',
    ({ cluster }) => put(cluster, grpcService({ envoy_grpc: { cluster_name: 'gone' } })),
    'warning control plane: unknown',
  ],
  ['google_grpc to this machine', ({ cluster }) => put(cluster, google('dns:///localhost:18000'))],
  ['google_grpc to a Unix socket', ({ cluster }) => put(cluster, google('unix:///run/xds'))],
  [
    'google_grpc to another machine',
    ({ cluster }) => put(cluster, google('dns:///localhost.example:18000')),
    'warning tls: none, to dns:///localhost.example:18000',
  ],
  [
    'google_grpc with TLS',
    ({ cluster }) => put(cluster, google('plimsoll:18000', { channel_credentials: { ssl_credentials: {} } })),
  ],
  [
    'google_grpc without pings',
    ({ cluster }) => put(cluster, google('ipv6:[::1]:18000', { channel_args: undefined })),
    'warning channel_args: google_grpc, without grpc.keepalive_time_ms',
  ],
  [
    'google_grpc that is not connected',
    ({ cluster, stats }) => {
      put(cluster, google('127.0.0.1:18000'));
      put(stats, { 'cluster.llama.control_plane.connected_state': 0 });
    },
    'error connected_state: not connected to the control plane',
  ],
  // ---- the source
  [
    'REST',
    ({ cluster }) =>
      put(cluster, { eds_cluster_config: { eds_config: { api_config_source: { api_type: 'REST' } } } }),
    'error eds_config: REST',
  ],
  [
    'ADS that is not configured',
    ({ cluster }) =>
      put(cluster, { eds_cluster_config: { eds_config: { ads: {}, api_config_source: undefined } } }),
    'error eds_config: ads, and there is no ads_config',
    'warning control plane: unknown',
  ],
  [
    'a long wait at the start',
    ({ cluster }) => put(cluster, { eds_cluster_config: { eds_config: { initial_fetch_timeout: '60s' } } }),
    'warning initial_fetch_timeout: 60 s',
  ],
  // ---- the cluster
  [
    'values in no form that Envoy prints',
    ({ cluster }) =>
      put(cluster, { common_lb_config: { healthy_panic_threshold: 'half', update_merge_window: 1 } }),
    'warning healthy_panic_threshold: unknown',
    'warning update_merge_window: unknown',
  ],
  [
    'subsets',
    ({ cluster }) => put(cluster, { lb_subset_config: {} }),
    'warning locality_weighted_lb_config: not set, but lb_subset_config is',
  ],
  [
    'a zone that is chosen first',
    ({ cluster }) => put(cluster, { common_lb_config: { locality_weighted_lb_config: {} } }),
    'warning locality_weighted_lb_config: set',
  ],
  [
    'an Envoy that routes by zone',
    ({ cluster, sections }) => {
      put(sections[0] ?? {}, LOCAL_CLUSTER);
      put(cluster, { common_lb_config: { zone_aware_lb_config: undefined } });
    },
    'error zone_aware_lb_config: not set, so 100 %, and the bootstrap has a local_cluster_name',
  ],
  [
    'one that does so by an extension, in part',
    ({ cluster, sections }) => {
      put(sections[0] ?? {}, LOCAL_CLUSTER);
      const routing = { zone_aware_lb_config: { routing_enabled: { value: 20 } } };
      const bias = { active_request_bias: { default_value: 2 } };
      put(cluster, balancing('LeastRequest', { ...bias, locality_lb_config: routing }));
    },
    'error zone_aware_lb_config: routing_enabled 20 %, and the bootstrap has a local_cluster_name',
  ],
  [
    'one that could and does not',
    ({ cluster, sections }) => {
      put(sections[0] ?? {}, LOCAL_CLUSTER);
      put(cluster, { common_lb_config: { zone_aware_lb_config: { routing_enabled: {} } } });
    },
  ],
  [
    "Envoy's own health checks",
    ({ cluster }) =>
      put(cluster, {
        health_checks: [{ interval: '5s', no_traffic_interval: '5s' }],
        ignore_health_on_host_removal: true,
      }),
  ],
  [
    'health checks as Envoy has them by default',
    ({ cluster }) => put(cluster, { health_checks: [{ interval: '5s', no_traffic_interval: '5s' }, {}] }),
    'warning health_checks: set, without ignore_health_on_host_removal',
    'warning health_checks: no_traffic_interval not set, so 60 s',
  ],
  [
    'health checks at long intervals',
    ({ cluster }) =>
      put(cluster, { health_checks: [{ no_traffic_interval: '20s' }], ignore_health_on_host_removal: true }),
    'warning health_checks: no_traffic_interval 20 s',
  ],
  [
    'health checks that cannot be read',
    ({ cluster }) => put(cluster, { health_checks: [{ no_traffic_interval: 5 }] }),
    'warning health_checks: unknown',
  ],
  ['sessions', ({ manager }) => put(manager, sessions({}))],
  [
    'sessions that do not move',
    ({ manager }) => put(manager, sessions({ strict: true })),
    'error stateful_session: strict',
  ],
  [
    'sessions that go on to backends that are out',
    ({ manager, cluster }) => {
      put(manager, sessions({}));
      const statuses = ['UNKNOWN', 'HEALTHY', 'DEGRADED', 'DRAINING', 'UNHEALTHY'];
      put(cluster, { common_lb_config: { override_host_status: { statuses } } });
    },
    'error override_host_status: DRAINING, UNHEALTHY',
  ],
  [
    'an extension that nobody knows',
    ({ cluster }) => put(cluster, balancing('Tarot')),
    'warning lb_policy: Tarot',
  ],
  [
    'the extension of an object',
    ({ cluster }) => put(cluster, balancing('constructor')),
    'warning lb_policy: constructor',
  ],
  [
    'LEAST_REQUEST as an extension',
    ({ cluster }) => put(cluster, balancing('LeastRequest', { active_request_bias: { default_value: 2 } })),
  ],
  ['ROUND_ROBIN', ({ cluster }) => put(cluster, { lb_policy: undefined })],
  [
    'a retry budget, and limits for HIGH alone',
    ({ cluster }) =>
      put(cluster, {
        circuit_breakers: { thresholds: [{ priority: 'HIGH', max_requests: 5 }, { retry_budget: {} }] },
      }),
    'error circuit_breakers: max_connections not set, so 1024, max_pending_requests not set, so 1024, max_requests not set, so 1024',
  ],
  [
    'limits that have been reached',
    ({ cluster, stats }) => {
      const limits = {
        max_connections: 5000,
        max_pending_requests: 20_000,
        max_requests: 20_000,
        max_retries: 100,
      };
      put(cluster, { circuit_breakers: { thresholds: [limits] } });
      put(stats, { 'cluster.llama.upstream_cx_overflow': 7 });
    },
    'error circuit_breakers: max_connections 5000',
  ],
  [
    'failures of a gateway',
    ({ cluster }) =>
      put(cluster, {
        outlier_detection: { consecutive_gateway_failure: 1, enforcing_consecutive_gateway_failure: 100 },
      }),
    'warning outlier_detection: consecutive_gateway_failure 1',
  ],
  [
    'idle connections for ever',
    ({ cluster }) =>
      put(cluster, {
        typed_extension_protocol_options: {
          'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
            common_http_protocol_options: { idle_timeout: '0s' },
          },
        },
      }),
    'warning idle_timeout: 0 s, which is never',
  ],
  [
    'backends left out by Envoy',
    ({ hosts }) =>
      hosts.push(
        { health_status: { eds_health_status: 'HEALTHY', failed_outlier_check: true } },
        { health_status: { eds_health_status: 'DRAINING' } },
      ),
    'warning endpoints: 1 left out by Envoy itself',
  ],
  [
    'no assignment yet',
    ({ hosts, stats }) => {
      hosts.length = 0;
      put(stats, { 'cluster.llama.update_success': 0, 'cluster.llama.version_text': '' });
    },
    'warning version_text: unknown',
    'error endpoints: none',
  ],
  // ---- routes
  [
    'no routes here',
    ({ manager }) => put(manager, { route_config: undefined, rds: { route_config_name: 'elsewhere' } }),
    'warning routes: none leads here by name',
  ],
  [
    'a share of the requests, and retries of the virtual host',
    ({ route, host }) => {
      const clusters = [
        { name: 'llama', weight: 1 },
        { name: 'other', weight: 9 },
      ];
      put(route, { route: { cluster: undefined, weighted_clusters: { clusters }, retry_policy: undefined } });
      put(host, { retry_policy: { retry_on: 'connect-failure' } });
    },
    'warning retry_policy: retry_on is without reset-before-request, refused-stream',
    'warning retry_policy: without previous_hosts in retry_host_predicate',
  ],
  [
    'the idle timeout of a route',
    ({ route }) => put(route, { route: { idle_timeout: '100s' } }),
    "warning stream_idle_timeout: 100 s, by the route's idle_timeout",
  ],
  // ---- local replies
  ['all flags', mappers(mapper(flags()))],
  ['by status', mappers(mapper(status('GE', 500), { status_code: 503 }))],
  ['by another status first', mappers(mapper(status(undefined, 404)), mapper(status('LE', 503)))],
  ['either of two', mappers(mapper({ or_filter: { filters: [flags('UH'), flags('NC', 'DO')] } }))],
  [
    'both of two',
    mappers(mapper({ and_filter: { filters: [status('NE', 200), flags('UH', 'NC')] } })),
    'warning local_reply_config: DO is not mapped',
  ],
  [
    'who knows',
    mappers(mapper({ header_filter: {} }), mapper(flags())),
    'warning local_reply_config: unknown',
  ],
  [
    "Envoy's body",
    mappers(mapper(flags(), { body: undefined })),
    "warning local_reply_config: UH has Envoy's body, NC has Envoy's body, DO has Envoy's body",
  ],
];

function balancing(type: string, fields: Tree = {}): Tree {
  const config = {
    '@type': `type.googleapis.com/envoy.extensions.load_balancing_policies.x.v3.${type}`,
    ...fields,
  };
  return { load_balancing_policy: { policies: [{ typed_extension_config: { typed_config: config } }] } };
}

describe('what is found', () => {
  for (const [name, change, ...faults] of CHANGES) {
    test(name, () => assert.deepEqual(faultsOf(findingsOf(change)), faults));
  }

  test('a control plane with several addresses on this machine', () => {
    const at = (address: string) => ({
      endpoint: { address: { socket_address: { address, port_value: 18_000 } } },
    });
    for (const [hosts, words] of [
      [['127.0.0.5'], '127.0.0.5:18000 is on this machine'],
      [['127.0.0.5', '127.0.0.6'], '127.0.0.5:18000, 127.0.0.6:18000 are on this machine'],
    ] as const) {
      const endpoints = [{ lb_endpoints: hosts.map((host) => at(host)) }];
      const findings = findingsOf(({ controlPlane }) =>
        put(controlPlane, { load_assignment: { endpoints } }),
      );
      assert.equal(findings.find(({ check }) => check === 'tls')?.is, `none, and ${words}`);
    }
  });

  test('what Plimsoll has not published cannot be compared', () => {
    const plimsoll = {
      groups: new Map([['llama', { acknowledged: [], versions: [], envoyLbPolicy: undefined, zones: [] }]]),
    };
    assert.deepEqual(faultsOf(findingsOf(undefined, plimsoll)), ['warning version_text: unknown']);
  });

  test('a refusal that is over is a warning', () => {
    const refused = ({ stats }: DumpParts) => put(stats, { 'cluster.llama.update_rejected': 3 });
    assert.deepEqual(faultsOf(findingsOf(refused)), ['error update_rejected: 3']);
    assert.deepEqual(faultsOf(findingsOf(refused, PLIMSOLL)), ['warning update_rejected: 3']);
  });

  test('a listener that Envoy refused is told once, with its name', () => {
    const details = 'cannot bind 127.0.0.1:10000: Address already in use\n';
    const refused = ({ sections, stats }: DumpParts) => {
      const listeners = sections.find((section) => 'static_listeners' in section) ?? assert.fail();
      put(listeners, {
        dynamic_listeners: [{ error_state: { details } }, { name: 'chat', error_state: { details } }],
      });
      put(stats, { 'listener_manager.lds.update_rejected': 1 });
    };
    assert.deepEqual(faultsOf(findingsOf(refused)), [
      'error update_rejected: listener chat: cannot bind 127.0.0.1:10000: Address already in use',
    ]);
  });

  test('what another replica has published is no error, and is not compared', () => {
    const group = { acknowledged: ['v2'], versions: ['v2'], envoyLbPolicy: undefined, zones: [] };
    const plimsoll = { groups: new Map([['llama', group]]) };
    assert.deepEqual(faultsOf(findingsOf(undefined, plimsoll)), []);
    const version = findingsOf(undefined, plimsoll).find(({ check }) => check === 'version_text');
    assert.match(version?.is ?? '', /^v1, not compared: .*; give --admin URL for each$/);
    const behind = { groups: new Map([['llama', { ...group, acknowledged: ['v1'] }]]) };
    assert.deepEqual(faultsOf(findingsOf(undefined, behind)), ['error version_text: v1']);
    const refused = ({ stats }: DumpParts) => put(stats, { 'cluster.llama.update_rejected': 3 });
    assert.deepEqual(faultsOf(findingsOf(refused, plimsoll)), ['error update_rejected: 3']);
  });

  test('what Envoy holds may be what was published just before', () => {
    const group = { acknowledged: [], versions: ['v1', 'v2'], envoyLbPolicy: undefined, zones: [] };
    assert.deepEqual(faultsOf(findingsOf(undefined, { groups: new Map([['llama', group]]) })), []);
  });

  test('with Plimsoll, clusters of other control planes are left alone; without, all are looked at', () => {
    const rename = ({ cluster, controlPlane }: DumpParts) => {
      put(controlPlane, { name: 'istiod' });
      put(cluster, {
        eds_cluster_config: {
          service_name: 'outbound|80||other',
          eds_config: { api_config_source: { grpc_services: [{ envoy_grpc: { cluster_name: 'istiod' } }] } },
        },
      });
    };
    assert.deepEqual(faultsOf(findingsOf(rename, PLIMSOLL)), [
      'error clusters: none takes its endpoints from a control plane that may be Plimsoll',
    ]);
    assert.ok(findingsOf(rename).some(({ check }) => check === 'healthy_panic_threshold'));
  });

  test('a cluster that warms up, on an aggregated stream, with its stats under another name', () => {
    const change = ({ cluster, sections, stats, hosts }: DumpParts) => {
      const [bootstrap, clusters] = sections as [Tree, Tree];
      const source = cluster['eds_cluster_config'] as { eds_config: Tree };
      const api = source.eds_config['api_config_source'];
      put(source.eds_config, { ads: {}, api_config_source: undefined });
      put(bootstrap, { bootstrap: { dynamic_resources: { ads_config: api } } });
      put(cluster, { alt_stat_name: 'a:b' });
      put(clusters, {
        static_clusters: (clusters['static_clusters'] as Tree[]).slice(1),
        dynamic_warming_clusters: [{ cluster }],
      });
      put(stats, { 'control_plane.connected_state': 1, 'cluster.a_b.update_rejected': 0 });
      hosts.length = 0;
    };
    assert.deepEqual(faultsOf(findingsOf(change)), [
      'warning version_text: unknown',
      'error endpoints: none yet: the cluster is warming',
    ]);
  });

  test('many clusters: the first hundred', () => {
    const change = ({ cluster, sections }: DumpParts) => {
      const list = Array.from({ length: 150 }, (_, i) => ({ cluster: { ...cluster, name: `c${i}` } }));
      put(sections[1] as Tree, { dynamic_active_clusters: list });
    };
    const findings = findingsOf(change);
    const shown = new Set(findings.map(({ place }) => place.cluster));
    assert.ok(shown.has('c98') && !shown.has('c99'));
    assert.match(faultsOf(findings)[0] ?? '', /^warning clusters: 151 .* of which 100 are looked at$/);
  });

  test('many routes with one fault: one finding with its places', () => {
    const findings = findingsOf(({ host, route }) => {
      put(route, { route: { timeout: undefined } });
      put(host, {
        routes: Array.from({ length: 500 }, (_, i) => ({ ...route, match: { prefix: `/${i}` } })),
      });
    });
    const faults = merged(findings).filter(({ severity }) => severity !== 'ok');
    assert.equal(faults.length, 1);
    const [fault] = faults;
    assert.deepEqual([fault?.check, fault?.places.length, fault?.morePlaces], ['timeout', 20, 480]);
    assert.equal(fault?.places[3]?.route, 'inference / llama / prefix /3');
  });

  test('without any page nothing is claimed but that nothing is known', () => {
    const nothing = { dump: undefined, clusters: undefined, stats: undefined, server: undefined };
    assert.deepEqual(faultsOf(diagnose(readView(nothing), undefined)), [
      'warning version: unknown',
      'warning state: unknown',
      'error clusters: none takes its endpoints from a control plane that may be Plimsoll',
    ]);
  });

  test('without statistics and hosts the configuration is judged all the same', () => {
    const pages: EnvoyPages = { ...envoyPages(), stats: undefined, clusters: undefined };
    assert.deepEqual(faultsOf(diagnose(readView(pages), PLIMSOLL)), [
      'warning connected_state: unknown',
      'warning version_text: unknown',
      'warning update_rejected: unknown',
      'warning endpoints: unknown',
    ]);
  });
});

test('whatever an Envoy prints, it is judged without an exception', () => {
  const whole = JSON.stringify(envoyPages());
  const places = [...whole.matchAll(/(?<=[:[,])("[^"]*"(?!:)|\d+|true|false)/g)];
  const junk = fc.oneof(
    fc.constantFrom('null', '[]', '{}', '-1', '1e400', '"__proto__"', '""'),
    fc.json({ maxDepth: 1 }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(places.length - 1), junk), { minLength: 1, maxLength: 8 }),
      (changes) => {
        let text = whole;
        const sorted = changes.toSorted(([a], [b]) => b - a).filter(([at], i, all) => at !== all[i - 1]?.[0]);
        for (const [at, value] of sorted) {
          const place = places[at];
          if (place === undefined) continue;
          text = text.slice(0, place.index) + value + text.slice(place.index + place[0].length);
        }
        const findings = merged(diagnose(readView(JSON.parse(text) as EnvoyPages), PLIMSOLL));
        assert.ok(findings.length > 2);
        JSON.stringify(findings);
      },
    ),
    { numRuns: 300, seed: 7 },
  );
});

describe('where a group has zones', () => {
  const inZones: PlimsollView = {
    groups: new Map([
      ['llama', { acknowledged: ['v1'], versions: ['v1'], envoyLbPolicy: 'LeastRequest', zones: ['a', 'b'] }],
    ]),
  };
  for (const [name, locality, ...faults] of [
    ['its own', { zone: 'a' }],
    ['none', {}, 'warning locality.zone: the node has none'],
    ['another one', { zone: 'c' }, 'warning locality.zone: c, in which the group has no backend'],
  ] as const) {
    test(`a node with ${name}`, () => {
      const findings = findingsOf(({ server }) => put(server, { node: { locality } }), inZones);
      assert.deepEqual(faultsOf(findings), faults);
    });
  }
});

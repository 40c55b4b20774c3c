import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { Envoy } from '../../src/demo/envoy.ts';
import type { Snapshot } from '../../src/publish/snapshot-store.ts';
import { encodeAssignment } from '../../src/xds/resources/assignment.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { Cleanups } from '../support/cleanups.ts';
import { waitFor } from '../support/wait-for.ts';
import { XdsHarness } from '../support/xds-harness.ts';
import { xdsSettings } from '../support/xds-settings.ts';

/** What the limits do to a real Envoy that opens a stream for each of its clusters. */

const CLUSTERS = ['one', 'two', 'three', 'four', 'five'] as const;

let harness: XdsHarness;
let envoy: Envoy;
const cleanups = new Cleanups();

afterEach(() => cleanups.run());

function bootstrap(port: number): string {
  const http2 = {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http2_protocol_options: {} },
    },
  };
  const endpoint = { address: { socket_address: { address: '127.0.0.1', port_value: port } } };
  const back_off = { base_interval: '0.1s', max_interval: '1s' };
  const eds_config = {
    resource_api_version: 'V3',
    initial_fetch_timeout: '5s',
    api_config_source: {
      api_type: 'DELTA_GRPC',
      transport_api_version: 'V3',
      grpc_services: [{ envoy_grpc: { cluster_name: 'xds', retry_policy: { retry_back_off: back_off } } }],
    },
  };
  const eds = CLUSTERS.map((name) => ({
    name,
    type: 'EDS',
    eds_cluster_config: { service_name: name, eds_config },
  }));
  const xds = {
    name: 'xds',
    typed_extension_protocol_options: http2,
    load_assignment: { cluster_name: 'xds', endpoints: [{ lb_endpoints: [{ endpoint }] }] },
  };
  return JSON.stringify({
    node: { id: 'sidecar', cluster: 'limits' },
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
    static_resources: { clusters: [...eds, xds] },
  });
}

/** Every cluster has one backend, of that weight. */
function fleet(weight: number): Snapshot {
  const assignments = CLUSTERS.map((serverGroup) => ({
    serverGroup,
    endpoints: [{ address: '127.0.0.1', port: 1, weight, health: 'HEALTHY' as const }],
    dropShare: 0,
  }));
  const resources = assignments.map((assignment) => ({
    typeUrl: TYPE_URLS.endpoint,
    name: assignment.serverGroup,
    version: String(weight),
    serverGroup: assignment.serverGroup,
    bytes: encodeAssignment(assignment),
  }));
  return {
    resources: new Map([[TYPE_URLS.endpoint, new Map(resources.map((each) => [each.name, each]))]]),
    held: new Map(),
    assignments: new Map(),
  };
}

async function start(settings: ConstructorParameters<typeof XdsHarness>[0]): Promise<void> {
  harness = new XdsHarness(settings);
  harness.store.set(fleet(1));
  const { server } = harness;
  const { port } = await cleanups.own(harness.listen(), () => server.stop());
  const starting = Envoy.start({ bootstrap: bootstrap(port), logLevel: 'warning' });
  envoy = await cleanups.own(starting, (started) => started.stop());
}

/** Waits until every cluster has its backend with this weight. */
function served(weight: number): Promise<true> {
  return waitFor(
    `the weight ${weight} in every cluster`,
    async () => {
      const hosts = await envoy.clusters();
      return CLUSTERS.every((name) => hosts.some((host) => host.cluster === name && host.weight === weight));
    },
    20_000,
  );
}

test('more streams than StreamsPerConnection go to another connection, and every cluster is served', async () => {
  await start({ settings: xdsSettings({ streamsPerConnection: 2 }) });
  await served(1);
  harness.store.set(fleet(2));
  await served(2);
  assert.deepEqual(harness.refused, []);
});

test('a storm beyond NewStreamsPerSecond comes back in time, and every cluster is served', async () => {
  await start({ settings: xdsSettings({ newStreamsPerSecond: 2 }) });
  await served(1);
  assert.ok(harness.refused.includes('NewStreamsPerSecond'));
});

test('a connection that is closed at its age costs nothing: clusters stay and updates go on', async () => {
  await start({ settings: { ...xdsSettings(), maxConnectionAgeSeconds: 0.5 } });
  await served(1);
  await waitFor('new streams', () => harness.opened > 3 * CLUSTERS.length);
  harness.store.set(fleet(2));
  await served(2);
  const stats = await envoy.stats(/membership_total|update_rejected/);
  for (const name of CLUSTERS) {
    assert.equal(stats.get(`cluster.${name}.membership_total`), 1);
    assert.equal(stats.get(`cluster.${name}.update_rejected`), 0);
  }
});

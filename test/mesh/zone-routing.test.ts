import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { Envoy } from '../../src/demo/envoy.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { startBackends } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';
import { deployed, readManifests } from './manifests.ts';

const HCM =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';
/** Fewer endpoints Envoy does not route by zone. */
const backends = Array.from({ length: 6 }, (_, index) => new GaugeBackend(`127.0.92.${index + 1}`));
const cleanups = new Cleanups();
let origin = '';

before(async () => {
  await startBackends(backends, cleanups);
  const starting = Envoy.start({ bootstrap: JSON.stringify(bootstrap()) });
  const envoy = await cleanups.own(starting, (started) => started.stop());
  origin = `http://${await waitFor('the listener', () => envoy.listener('zones'))}`;
});
after(() => cleanups.run());

interface Patched {
  readonly load_balancing_policy: {
    readonly policies: [
      { readonly typed_extension_config: { readonly typed_config: Readonly<Record<string, unknown>> } },
    ];
  };
}

/** How the recipe for Envoy Gateway balances. */
function policyOfGateway(): Patched {
  const [policy] = readManifests(deployed('envoy-gateway/envoy-patch-policy.yaml'));
  const { jsonPatches } = (policy ?? assert.fail()).spec as {
    readonly jsonPatches: readonly {
      readonly operation: { readonly path: string; readonly value: unknown };
    }[];
  };
  const patch = jsonPatches.find(({ operation }) => operation.path === '/load_balancing_policy');
  return { load_balancing_policy: patch?.operation.value ?? assert.fail() } as Patched;
}

/** The same, without what it says of zones. */
function policyWithoutZones(): object {
  const [{ typed_extension_config: extension }] = policyOfGateway().load_balancing_policy.policies;
  const { locality_lb_config: zones, ...rest } = extension.typed_config;
  assert.ok(zones !== undefined);
  return {
    load_balancing_policy: { policies: [{ typed_extension_config: { ...extension, typed_config: rest } }] },
  };
}

/** How the recipe for Istio balances. */
function policyOfIstio(): object {
  const [filter] = readManifests(deployed('istio/envoy-filter.yaml'));
  const { configPatches } = (filter ?? assert.fail()).spec as {
    readonly configPatches: readonly {
      readonly applyTo: string;
      readonly patch: { readonly value: Record<string, unknown> };
    }[];
  };
  const { value } = configPatches.find(({ applyTo }) => applyTo === 'CLUSTER')?.patch ?? assert.fail();
  const { lb_policy, least_request_lb_config, common_lb_config } = value;
  return { lb_policy, least_request_lb_config, common_lb_config };
}

/** An Envoy in zone a that knows its own zone, as those of Envoy Gateway in Kubernetes do. */
function bootstrap(): object {
  const clusters = {
    gateway: policyOfGateway(),
    istio: policyOfIstio(),
    without: policyWithoutZones(),
  };
  const names = Object.keys(clusters);
  const routes = names.map((name) => ({ match: { prefix: `/${name}` }, route: { cluster: name } }));
  const manager = {
    '@type': HCM,
    stat_prefix: 'zones',
    route_config: { virtual_hosts: [{ name: 'zones', domains: ['*'], routes }] },
    http_filters: [{ name: 'router', typed_config: { '@type': ROUTER } }],
  };
  return {
    node: { id: 'zones', cluster: 'proxies', locality: { zone: 'a' } },
    admin: { address: socketAddress('127.0.0.1', 0) },
    cluster_manager: { local_cluster_name: 'proxies' },
    static_resources: {
      clusters: [
        cluster('proxies', {}, [endpoint('127.0.0.1', 1, 1)], [endpoint('127.0.0.1', 2, 1)]),
        ...Object.entries(clusters).map(([name, policy]) =>
          cluster(
            name,
            policy,
            backends.slice(0, 3).map(({ address, port }) => endpoint(address, port, 10)),
            backends.slice(3).map(({ address, port }) => endpoint(address, port, 90)),
          ),
        ),
      ],
      listeners: [
        {
          name: 'zones',
          address: socketAddress('127.0.0.1', 0),
          filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
        },
      ],
    },
  };
}

function cluster(name: string, policy: object, zoneA: readonly object[], zoneB: readonly object[]): object {
  const endpoints = [
    { locality: { zone: 'a' }, lb_endpoints: zoneA },
    { locality: { zone: 'b' }, lb_endpoints: zoneB },
  ];
  return { name, type: 'STATIC', ...policy, load_assignment: { cluster_name: name, endpoints } };
}

function endpoint(address: string, port: number, weight: number): object {
  return { endpoint: { address: socketAddress(address, port) }, load_balancing_weight: weight };
}

function socketAddress(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

/** The part of 100 requests that goes to zone b, which has 0.9 of the weights. */
async function shareOfB(name: string): Promise<number> {
  const inB = backends.slice(3).map(({ id }) => id);
  let count = 0;
  for (let sent = 0; sent < 100; sent++) {
    const { headers, body } = await request(`${origin}/${name}`);
    await body.dump();
    if (inB.includes(String(headers['x-backend']))) count++;
  }
  return count / 100;
}

test('in an Envoy that knows its own zone, weights hold with the recipes, and would not without what they say of zones', async () => {
  assert.equal(await shareOfB('without'), 0);
  for (const name of ['gateway', 'istio']) {
    const share = await shareOfB(name);
    assert.ok(share > 0.8 && share < 0.97, `${name}: ${share}`);
  }
});

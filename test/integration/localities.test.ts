import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, request } from 'undici';
import type { Endpoint } from '../../src/core/model/assignment.ts';
import type { ServerGroup } from '../../src/core/model/server-group.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { clusterJson } from '../../src/xds/resources/cluster.ts';
import { listenerJson } from '../../src/xds/resources/listener.ts';
import type { ProtoJsonMessage } from '../../src/xds/resources/proto-json.ts';
import { Cleanups } from '../support/cleanups.ts';
import { serverGroup } from '../support/configuration.ts';
import { EdsFile } from '../support/eds-file.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { startBackends } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

/** Endpoints in several zones on a real Envoy: whatever a cluster does about localities, the shares are the published ones. */

const backends = Array.from({ length: 6 }, (_, i) => new GaugeBackend(`127.0.60.${i + 1}`));
const REQUESTS = 400;
let file: EdsFile;
let envoy: Envoy;
let url: string;
const agent = new Agent({ connections: 64 });
const cleanups = new Cleanups();

/** Two in zone a, three in zone b, one in none; the second and the fourth take nothing. */
function endpoints(): readonly Endpoint[] {
  const zones = ['a', 'a', 'b', 'b', 'b', undefined];
  const weights = [50_000, 400_000, 200_000, 300_000, 100_000, 150_000];
  return backends.map(({ address, port }, i) => ({
    address,
    port,
    weight: weights[i] ?? 1,
    health: i === 1 ? 'UNHEALTHY' : i === 3 ? 'DRAINING' : 'HEALTHY',
    zone: zones[i],
  }));
}

const CLUSTERS: Readonly<Record<string, (ours: ProtoJsonMessage) => ProtoJsonMessage>> = {
  // one request at a time: its own requests in flight move nothing
  LeastRequest: (ours) => ours,
  RoundRobin: (ours) => ours,
  'locality-weighted': (ours) => ({
    ...ours,
    common_lb_config: {
      // the one or the other
      ...without(ours['common_lb_config'] as ProtoJsonMessage, 'zone_aware_lb_config'),
      locality_weighted_lb_config: {},
    },
  }),
};

function without(message: ProtoJsonMessage, field: string): ProtoJsonMessage {
  return Object.fromEntries(Object.entries(message).filter(([name]) => name !== field));
}

function groupFor(cluster: string): ServerGroup {
  return serverGroup('llama', { envoyLbPolicy: cluster === 'LeastRequest' ? 'LeastRequest' : 'RoundRobin' });
}

function bootstrap(): string {
  const group = serverGroup('llama');
  const listener = { name: 'inference', address: '127.0.0.1', port: 0 };
  const routes = Object.keys(CLUSTERS).map((cluster) => ({
    match: { prefix: `/${cluster}` },
    route: { cluster },
  }));
  return JSON.stringify({
    node: { id: 'n', cluster: 'c', locality: { zone: 'a' } },
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
    static_resources: {
      listeners: [
        listenerJson(listener, group, {
          route_config: { name: 'r', virtual_hosts: [{ name: 'v', domains: ['*'], routes }] },
        }),
      ],
      clusters: Object.entries(CLUSTERS).map(([name, change]) => ({
        ...change(clusterJson(groupFor(name), file.source)),
        name,
      })),
    },
  });
}

before(async () => {
  await startBackends(backends, cleanups);
  file = await cleanups.own(EdsFile.create(), (made) => made.remove());
  await file.publish({ serverGroup: 'llama', endpoints: endpoints(), dropShare: 0 });
  envoy = await cleanups.own(Envoy.start({ bootstrap: bootstrap() }), (started) => started.stop());
  cleanups.add(() => agent.destroy());
  url = `http://${await waitFor('the listener', () => envoy.listener('inference'))}`;
});
after(() => cleanups.run());

for (const cluster of Object.keys(CLUSTERS)) {
  test(`the shares of three localities are the published ones: ${cluster}`, async () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < REQUESTS; i++) {
      const { headers, statusCode, body } = await request(`${url}/${cluster}`, { dispatcher: agent });
      await body.dump();
      assert.equal(statusCode, 200);
      const backend = String(headers['x-backend']);
      counts.set(backend, (counts.get(backend) ?? 0) + 1);
    }
    const shares = backends.map(({ id }) => (counts.get(id) ?? 0) / REQUESTS);
    const published = [0.1, 0, 0.4, 0, 0.2, 0.3];
    for (const [i, share] of shares.entries()) {
      const wanted = published[i] ?? 0;
      assert.ok(
        Math.abs(share - wanted) <= 0.01 * Math.ceil(wanted),
        `${shares.join(' ')} for ${published.join(' ')}`,
      );
    }
  });
}

test('Envoy has refused nothing and holds each endpoint in its zone', async () => {
  const stats = await envoy.stats(/^cluster\..*\.update_rejected$/);
  assert.deepEqual([...stats.values()], [0, 0, 0]);
  const page = JSON.parse(await envoy.get('/clusters?format=json')) as {
    readonly cluster_statuses: readonly {
      readonly name: string;
      readonly host_statuses: readonly { readonly locality?: { readonly zone?: string } }[];
    }[];
  };
  const hosts = page.cluster_statuses.find(({ name }) => name === 'RoundRobin')?.host_statuses ?? [];
  assert.deepEqual(hosts.map(({ locality }) => locality?.zone ?? '').toSorted(), [
    '',
    'a',
    'a',
    'b',
    'b',
    'b',
  ]);
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Envoy } from '../../src/demo/envoy.ts';
import { Cleanups } from '../support/cleanups.ts';
import { waitFor } from '../support/wait-for.ts';
import { Client } from './client.ts';
import { diagnosis, faultsIn } from './diagnosis.ts';
import { IstioMesh } from './istio-mesh.ts';
import type { Manifest } from './manifests.ts';
import { Plane, twoBackends } from './plane.ts';

const HOST = 'llama.inference.svc.cluster.local';

const cleanups = new Cleanups();
let plane: Plane;
let mesh: IstioMesh;
let sidecar: Envoy;

before(async () => {
  const backends = await twoBackends(96, cleanups);
  plane = await cleanups.own(Plane.start({ backends }), (started) => started.kill());
  mesh = await cleanups.own(IstioMesh.start(), (started) => started.stop());
  await mesh.cluster.apply(
    ...mesh.recipe(plane.xdsPort, 'envoy-filter.yaml', 'virtual-service.yaml', 'destination-rule.yaml'),
  );
  sidecar = await mesh.proxy('sidecar');
  const client = new Client(mesh.port, 'llama.inference');
  await client.until('a request to pass', ({ status }) => status === 200);
});
after(() => cleanups.run());

const IDLE = { http: { idleTimeout: '4s' } };
const CONFIG = { connectionPool: IDLE };

/** What a DestinationRule does to the cluster beside the EnvoyFilter, by what plimsoll doctor says of it. */
const POLICIES: readonly (readonly [string, object, ...faults: readonly string[]])[] = [
  ['that of the recipe', CONFIG],
  ['one without idleTimeout', {}, 'warning idle_timeout: not set, so 1 h'],
  [
    'another load balancer, which the EnvoyFilter overrules',
    { ...CONFIG, loadBalancer: { simple: 'RANDOM' } },
  ],
  [
    'a hash, which it overrules as well, but not what it does to retries',
    { ...CONFIG, loadBalancer: { consistentHash: { httpHeaderName: 'user' } } },
    'warning retry_policy: without previous_hosts in retry_host_predicate',
  ],
  [
    'a warm-up',
    { ...CONFIG, loadBalancer: { simple: 'LEAST_REQUEST', warmup: { duration: '30s' } } },
    'warning slow_start_config: set',
  ],
  [
    'limits',
    {
      connectionPool: {
        http: { ...IDLE.http, http2MaxRequests: 100, maxRetries: 3 },
        tcp: { maxConnections: 50 },
      },
    },
    'warning circuit_breakers: max_connections 50, max_requests 100',
    'warning max_retries: 3',
  ],
  [
    'outlier detection, of which it overrules what it sets itself',
    {
      ...CONFIG,
      outlierDetection: { consecutive5xxErrors: 1, consecutiveGatewayErrors: 1, maxEjectionPercent: 100 },
    },
    'warning outlier_detection: consecutive_gateway_failure 1',
  ],
  [
    'a least share of healthy endpoints',
    { ...CONFIG, outlierDetection: { minHealthPercent: 50 } },
    'error healthy_panic_threshold: 50 %',
  ],
];

function destinationRule(trafficPolicy: object, subsets: readonly object[] = []): Manifest {
  const [rule] = mesh.recipe(plane.xdsPort, 'destination-rule.yaml');
  return { ...(rule ?? assert.fail()), spec: { host: HOST, trafficPolicy, subsets } };
}

/** Waits until doctor finds these faults and no others. */
async function untilFaults(faults: readonly string[]): Promise<void> {
  let found: readonly string[] = [];
  await waitFor('the faults', async () => {
    found = faultsIn(await diagnosis(sidecar.admin, plane.admin));
    return JSON.stringify(found) === JSON.stringify(faults);
  }).catch(() => assert.deepEqual(found, faults));
}

describe('beside the EnvoyFilter, a DestinationRule', () => {
  for (const [name, trafficPolicy, ...faults] of POLICIES) {
    test(name, async () => {
      // first one whose faults are others, so that what is seen is not what was there before
      await mesh.cluster.remove(destinationRule({}));
      await untilFaults(['warning idle_timeout: not set, so 1 h']);
      await mesh.cluster.apply(destinationRule(trafficPolicy));
      await untilFaults(faults);
    });
  }

  test('subsets are clusters of their own, which the EnvoyFilter does not touch', async () => {
    const [service] = mesh.recipe(plane.xdsPort, 'virtual-service.yaml');
    const destination = { host: HOST, subset: 'v1', port: { number: mesh.port } };
    await mesh.cluster.apply(destinationRule(CONFIG, [{ name: 'v1', labels: { version: 'v1' } }]), {
      ...(service ?? assert.fail()),
      spec: { hosts: [HOST], http: [{ route: [{ destination }] }] },
    });
    await untilFaults(['warning routes: none leads here by name']);
    await mesh.cluster.apply(destinationRule(CONFIG), service ?? assert.fail());
    await untilFaults([]);
  });
});

test("without the VirtualService, Istio's retries are what doctor warns of", async () => {
  const service = mesh.recipe(plane.xdsPort, 'virtual-service.yaml');
  await mesh.cluster.remove(...service);
  await untilFaults(['warning retry_policy: retry_on has unavailable, cancelled, retriable-status-codes']);
  await mesh.cluster.apply(...service);
  await untilFaults([]);
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { request } from 'undici';
import type { Envoy } from '../../src/demo/envoy.ts';
import { Cleanups } from '../support/cleanups.ts';
import type { GaugeBackend } from '../support/gauge-backend.ts';
import { waitFor } from '../support/wait-for.ts';
import { Client } from './client.ts';
import { diagnosis, faultsIn } from './diagnosis.ts';
import { ISTIOD_ENDPOINT, IstioMesh } from './istio-mesh.ts';
import { rewritten } from './manifests.ts';
import { Plane, show, twoBackends } from './plane.ts';
import { assertShares } from './shares.ts';

const FILES = ['envoy-filter.yaml', 'destination-rule.yaml', 'virtual-service.yaml', 'gateway.yaml'];

const cleanups = new Cleanups();
let backends: readonly GaugeBackend[] = [];
let plane: Plane;
let mesh: IstioMesh;
let sidecar: Envoy;
let gateway: Envoy;
let client: Client;
let atGateway: Client;

before(async () => {
  backends = await twoBackends(95, cleanups);
  plane = await cleanups.own(Plane.start({ backends }), (started) => started.kill());
  mesh = await cleanups.own(IstioMesh.start(), (started) => started.stop());
  client = new Client(mesh.port, 'llama.inference');
  atGateway = new Client(mesh.gatewayPort, 'llama.example');
  await mesh.cluster.apply(...mesh.recipe(plane.xdsPort, ...FILES));
  sidecar = await mesh.proxy('sidecar', { app: 'client' });
  gateway = await mesh.proxy('router', { istio: 'ingressgateway' });
  for (const one of [client, atGateway]) await one.until('a request to pass', ({ status }) => status === 200);
});
after(() => cleanups.run());

/** How many sidecars a replica says that it has. */
async function connections({ admin }: Plane): Promise<number> {
  const { body } = await request(`${admin}/metrics`);
  return Number(/^plimsoll_xds_streams\{[^}]*"eds"[^}]*"delta"[^}]*\} (\d+)$/m.exec(await body.text())?.[1]);
}

describe('the recipe for Istio, made into xDS by istiod and run by Envoys', () => {
  test('requests go to the backends that Plimsoll names, by their weights', async () => {
    for (const one of [client, atGateway]) assertShares(await one.tally(60), backends);
  });

  test('plimsoll doctor finds nothing wrong, in a sidecar and in a gateway', async () => {
    for (const { admin } of [sidecar, gateway]) {
      const findings = await diagnosis(admin, plane.admin);
      assert.deepEqual(faultsIn(findings), []);
      const source = findings.find(({ check }) => check === 'eds_config');
      assert.equal(source?.is, 'llama from plimsoll_xds, over a stream of its own, delta');
      // without Plimsoll's answers the cluster is known by the name plimsoll_xds
      assert.deepEqual(faultsIn(await diagnosis(admin)), []);
    }
  });

  test('all saturated: 503 with the body; and back', async () => {
    show(backends, 'full');
    for (const one of [client, atGateway]) {
      const { status, body, retryAfter } = await one.until('a refusal', (answer) => answer.status !== 200);
      assert.deepEqual([status, body, retryAfter], [503, 'no available upstream', '1']);
    }
    show(backends, 'idle');
    for (const one of [client, atGateway])
      await one.until('a request to pass', ({ status }) => status === 200);
  });

  test('a 503 of a backend is not sent again', async () => {
    for (const backend of backends) {
      backend.hits = 0;
      backend.serve = (_request, response) => response.writeHead(503).end('busy');
    }
    for (const one of [client, atGateway])
      assert.deepEqual(await one.send().then(({ status, body }) => [status, body]), [503, 'busy']);
    assert.equal(
      backends.reduce((sum, { hits }) => sum + hits, 0),
      2,
    );
    for (const backend of backends) backend.serve = undefined;
  });

  test('of two replicas one ends: the proxies are with the other', async () => {
    const second = await Plane.start({ backends });
    try {
      const [filter] = rewritten(mesh.recipe(plane.xdsPort, 'envoy-filter.yaml'), [
        // a name with two addresses
        [`dns:///127.0.0.1:${plane.xdsPort}`, `ipv4:127.0.0.1:${plane.xdsPort},127.0.0.1:${second.xdsPort}`],
      ]);
      await mesh.cluster.apply(filter ?? assert.fail());
      await waitFor('the two', async () => (await sidecar.get('/config_dump')).includes('ipv4:127.0.0.1'));
      await waitFor('the first', async () => (await connections(plane)) >= 2);
      await plane.kill();
      await waitFor('the second', async () => (await connections(second)) >= 2);
      assertShares(await client.tally(60), backends);
      await plane.revive();
      await mesh.cluster.apply(...mesh.recipe(plane.xdsPort, 'envoy-filter.yaml'));
      await waitFor('the first again', async () => (await connections(plane)) >= 2);
    } finally {
      await second.kill();
    }
  });

  test('without Plimsoll it goes on with what it has, and follows it again when it is back', async () => {
    const lost = 'error connected_state: not connected to the control plane';
    await plane.kill();
    await waitFor('the loss', async () => faultsIn(await diagnosis(sidecar.admin)).includes(lost));
    assertShares(await client.tally(60), backends);
    await plane.revive();
    await waitFor(
      'Plimsoll again',
      async () => faultsIn(await diagnosis(sidecar.admin)).length === 0,
      60_000,
    );
    assertShares(await client.tally(60), backends);
  });

  test("rolled back, by deleting the EnvoyFilter: istiod's endpoints", async () => {
    await mesh.cluster.remove(...mesh.recipe(plane.xdsPort, 'envoy-filter.yaml'));
    await waitFor("istiod's endpoint", async () =>
      (await sidecar.clusters()).some(({ address }) => address === `${ISTIOD_ENDPOINT}:8000`),
    );
    const names = backends.map(({ id }) => id);
    assert.deepEqual(
      (await sidecar.clusters()).filter(({ address }) => names.includes(address)),
      [],
    );
  });
});

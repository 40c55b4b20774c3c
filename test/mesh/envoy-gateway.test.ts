import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { TestCa } from '../support/pki.ts';
import { steadyPorts } from './steady-ports.ts';
import { startBackends } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Answer, Client } from './client.ts';
import { diagnosis, faultsIn } from './diagnosis.ts';
import { EnvoyGateway } from './envoy-gateway.ts';
import { gatewayRecipe, gatewaySettings } from './gateway-recipe.ts';
import type { Manifest } from './manifests.ts';
import { Plane, show, twoBackends } from './plane.ts';
import { assertShares } from './shares.ts';

const CLUSTER = 'httproute/inference/llama/rule/0';

/** What the gateway would send requests to without Plimsoll. */
const own = new GaugeBackend('127.0.94.9');
const cleanups = new Cleanups();
let backends: readonly GaugeBackend[] = [];
let plane: Plane;
let gateway: EnvoyGateway;
let client: Client;
let manifests: readonly Manifest[] = [];

before(async () => {
  const made = mkdtemp(join(tmpdir(), 'plimsoll-gateway-'));
  const folder = await cleanups.own(made, (path) => rm(path, { recursive: true, force: true }));
  const [port = 0, securePort = 0] = await steadyPorts(2);
  await startBackends([own], cleanups);
  backends = await twoBackends(94, cleanups);
  plane = await cleanups.own(Plane.start({ backends }), (started) => started.kill());
  client = new Client(port, 'llama.example');
  manifests = await withTls(gatewayRecipe({ port, xdsPort: plane.xdsPort, own }), securePort);
  const starting = EnvoyGateway.start(folder, withoutPatches(), gatewaySettings());
  gateway = await cleanups.own(starting, (started) => started.stop());
  await gateway.passes(client);
});
after(() => cleanups.run());

/** The same with a second listener, for TLS, patched as the comment in the file says. */
async function withTls(plain: readonly Manifest[], port: number): Promise<Manifest[]> {
  const { cert, key } = await (await TestCa.create()).issue({ dns: ['llama.example'] });
  const data = (text: string) => Buffer.from(text).toString('base64');
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'tls', namespace: 'inference' },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': data(cert), 'tls.key': data(key) },
  };
  const listener = {
    name: 'https',
    protocol: 'HTTPS',
    port,
    tls: { mode: 'Terminate', certificateRefs: [{ name: 'tls' }] },
  };
  const patched = plain.map((manifest) => {
    if (manifest.kind === 'Gateway') return withItem(manifest, 'listeners', listener);
    if (manifest.kind !== 'EnvoyPatchPolicy') return manifest;
    const text = JSON.stringify(
      (manifest.spec as { readonly jsonPatches: readonly object[] }).jsonPatches.at(-1),
    );
    const patch = text
      .replace('inference/inference/http', 'inference/inference/https')
      .replace('/default_filter_chain/', '/filter_chains/0/');
    return withItem(manifest, 'jsonPatches', JSON.parse(patch) as object);
  });
  return [...patched, secret];
}

function withItem(manifest: Manifest, list: string, item: object): Manifest {
  const spec = manifest.spec as Readonly<Record<string, readonly object[]>>;
  return { ...manifest, spec: { ...spec, [list]: [...(spec[list] ?? []), item] } };
}

function withoutPatches(): readonly Manifest[] {
  return manifests.filter(({ kind }) => kind !== 'EnvoyPatchPolicy');
}

async function untilWithoutFailure(holds: (answer: Answer) => boolean): Promise<void> {
  const statuses = new Set<number>();
  await client.until('the change', (answer) => {
    statuses.add(answer.status);
    return holds(answer);
  });
  assert.deepEqual([...statuses], [200]);
}

describe('the recipe for Envoy Gateway, translated by it and run by an Envoy of its own', () => {
  test('switched over, by the EnvoyPatchPolicy, without a failed request', async () => {
    assert.deepEqual([...(await client.tally(10)).keys()], [own.id]);
    gateway.change(manifests);
    await untilWithoutFailure(({ backend }) => backend !== own.id);
  });

  test('requests go to the backends that Plimsoll names, by their weights', async () => {
    assertShares(await client.tally(60), backends);
  });

  test('plimsoll doctor finds nothing wrong, on listeners with TLS and without', async () => {
    const findings = await diagnosis(gateway.envoyAdmin, plane.admin);
    assert.deepEqual(faultsIn(findings), []);
    const found = findings.filter(({ check }) => check === 'local_reply_config');
    const listeners = found.flatMap(({ places }) => places.map(({ listener = '' }) => listener));
    assert.deepEqual(listeners.toSorted(), ['inference/inference/http', 'inference/inference/https']);
    const balancing = findings.find(({ check }) => check === 'lb_policy');
    assert.equal(balancing?.is, 'LEAST_REQUEST, active_request_bias 2');
    assert.equal(balancing.places[0]?.cluster, CLUSTER);
  });

  test('all saturated: 503 with the body; and back', async () => {
    show(backends, 'full');
    const { status, body, retryAfter } = await client.until('a refusal', (answer) => answer.status !== 200);
    assert.deepEqual([status, body, retryAfter], [503, 'no available upstream', '1']);
    show(backends, 'idle');
    await client.until('a request to pass again', (answer) => answer.status === 200);
  });

  test('without Plimsoll it goes on with what it has', async () => {
    await plane.kill();
    await waitFor('the loss', async () =>
      faultsIn(await diagnosis(gateway.envoyAdmin)).includes(
        'error connected_state: not connected to the control plane',
      ),
    );
    const counts = await client.tally(30);
    assert.deepEqual([...counts.keys()].toSorted(), backends.map(({ id }) => id).toSorted());
  });

  test('rolled back, by deleting the EnvoyPatchPolicy: the backends of the gateway', async () => {
    gateway.change(withoutPatches());
    await untilWithoutFailure(({ backend }) => backend === own.id);
    assert.deepEqual([...(await client.tally(20)).keys()], [own.id]);
    const faults = faultsIn(await diagnosis(gateway.envoyAdmin));
    assert.ok(faults.includes('warning locality_weighted_lb_config: set'), faults.join('\n'));
  });
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { TestCa } from '../support/pki.ts';
import { startBackends } from '../support/voyage.ts';
import { steadyPorts } from './steady-ports.ts';
import { Client } from './client.ts';
import { diagnosis, faultsIn } from './diagnosis.ts';
import { EnvoyGateway } from './envoy-gateway.ts';
import { gatewayRecipe, gatewaySettings } from './gateway-recipe.ts';
import { deployed, type Manifest } from './manifests.ts';
import { Plane, twoBackends } from './plane.ts';
import { assertShares } from './shares.ts';

const SERVER_NAME = 'plimsoll-xds.plimsoll.svc.cluster.local';

const own = new GaugeBackend('127.0.93.9');
const cleanups = new Cleanups();
let folder = '';
let port = 0;
let backends: readonly GaugeBackend[] = [];
let plane: Plane;
let client: Client;

before(async () => {
  const made = mkdtemp(join(tmpdir(), 'plimsoll-gateway-'));
  folder = await cleanups.own(made, (path) => rm(path, { recursive: true, force: true }));
  [port = 0] = await steadyPorts(1);
  client = new Client(port, 'llama.example');
  await startBackends([own], cleanups);
  backends = await twoBackends(93, cleanups);
  const { cert, key } = await issueFor(SERVER_NAME);
  const tls = {
    certFile: await file('tls.crt', cert),
    keyFile: await file('tls.key', key),
    clientCaFile: undefined,
  };
  plane = await cleanups.own(Plane.start({ backends, tls }), (started) => started.kill());
});
after(() => cleanups.run());

async function issueFor(name: string): Promise<{ readonly cert: string; readonly key: string }> {
  const ca = await TestCa.create();
  await file('ca.crt', ca.cert);
  return ca.issue({ dns: [name] });
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

/** The recipe with what README.md adds to it for TLS. */
function withTls(manifests: readonly Manifest[]): Manifest[] {
  const blocks = readFileSync(deployed('envoy-gateway/README.md'), 'utf8').matchAll(
    /^```yaml\n([^]*?)^```/gm,
  );
  const found = [...blocks]
    .map(([, yaml]) => yaml ?? '')
    .find((yaml) => yaml.startsWith('transport_socket:'));
  const added =
    found?.replace('/etc/plimsoll/ca.crt', join(folder, 'ca.crt')) ?? assert.fail('no such block');
  return manifests.map((manifest) => {
    if (manifest.kind !== 'EnvoyProxy') return manifest;
    const { bootstrap, ...spec } = manifest.spec as { readonly bootstrap: { readonly value: string } };
    const value = parse(bootstrap.value) as { static_resources: { clusters: [object] } };
    Object.assign(value.static_resources.clusters[0], parse(added));
    return { ...manifest, spec: { ...spec, bootstrap: { ...bootstrap, value: stringify(value) } } };
  });
}

async function runs(name: string, manifests: readonly Manifest[], settings: object): Promise<EnvoyGateway> {
  const gateway = await EnvoyGateway.start(join(folder, name), manifests, settings);
  try {
    await gateway.passes(client);
    return gateway;
  } catch (error) {
    await gateway.stop();
    throw error;
  }
}

test('TLS to Plimsoll, as in README.md', async () => {
  const manifests = withTls(gatewayRecipe({ port, xdsPort: plane.xdsPort, own }));
  const gateway = await runs('tls', manifests, gatewaySettings());
  try {
    assertShares(await client.tally(60), backends);
    const findings = await diagnosis(gateway.envoyAdmin, plane.admin);
    assert.deepEqual(faultsIn(findings), []);
    assert.match(findings.find(({ check }) => check === 'tls')?.is ?? '', /^set/);
  } finally {
    await gateway.stop();
  }
});

test('while EnvoyPatchPolicy is off, nothing happens: Envoy Gateway says so, and doctor', async () => {
  const manifests = gatewayRecipe({ port, xdsPort: plane.xdsPort, own });
  const gateway = await runs('off', manifests, gatewaySettings({ enableEnvoyPatchPolicy: false }));
  try {
    assert.deepEqual([...(await client.tally(10)).keys()], [own.id]);
    assert.match(gateway.log, /EnvoyPatchPolicy is disabled in the EnvoyGateway configuration/);
    assert.ok(
      faultsIn(await diagnosis(gateway.envoyAdmin, plane.admin)).includes(
        'error clusters: none takes its endpoints from a control plane that may be Plimsoll',
      ),
    );
  } finally {
    await gateway.stop();
  }
});

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { request } from 'undici';
import { plimsollOutput } from '../../src/demo/control-plane.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { KubeApi } from '../support/kube-api.ts';
import { TestCa } from '../support/pki.ts';
import { waitFor } from '../support/wait-for.ts';
import { Cluster } from './cluster.ts';
import { Istiod } from './istiod.ts';
import { deployed, type Manifest, readCrds, readManifests } from './manifests.ts';
import { proxyBootstrap } from './proxy.ts';
import { SecretServer } from './secrets.ts';
import { steadyPorts } from './steady-ports.ts';
import { ISTIO_CRDS } from './tools.ts';

/** Where a backend's sidecar listens. */
const ADDRESS = '127.0.98.2';

/** What deploy/kubernetes/overlays/mesh-mtls rests on, with what a real istiod tells real Envoys. */
describe('reading metrics with a certificate of the mesh', () => {
  let folder = '';
  const cleanups = new Cleanups();
  let istiod: Istiod;
  let cluster: Cluster;
  let secretsPort: number;
  const file = (name: string): string => join(folder, name);
  before(async () => {
    const made = mkdtemp(join(tmpdir(), 'plimsoll-certificate-'));
    folder = await cleanups.own(made, (path) => rm(path, { recursive: true, force: true }));
    const api = await cleanups.own(KubeApi.start(), (started) => started.stop());
    cluster = new Cluster(api.admin);
    await cluster.define(await readCrds(ISTIO_CRDS));
    for (const name of ['istio-system', 'plimsoll', 'inference']) {
      await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await cluster.apply(...readManifests(deployed('kubernetes/base/services.yaml')));
    await writeFile(file('kubeconfig'), api.kubeconfig({ token: 'admin-token' }));
    const starting = Istiod.start(file('istiod'), file('kubeconfig'));
    istiod = await cleanups.own(starting, (started) => started.stop());
    const authority = await TestCa.create('CN=test mesh');
    const identity = (of: string) => authority.issue({ uri: [`spiffe://cluster.local/ns/${of}`] });
    const secrets = new SecretServer(await identity('inference/sa/llama'), authority.cert);
    cleanups.add(() => secrets.stop());
    secretsPort = await secrets.start();
    // as the sidecar's OUTPUT_CERTS has them
    const own = await identity('plimsoll/sa/plimsoll');
    await writeFile(file('cert-chain.pem'), own.cert);
    await writeFile(file('key.pem'), own.key);
  });
  after(() => cleanups.run());

  async function sidecar(
    t: TestContext,
    namespace: string,
    labels: Readonly<Record<string, string>>,
  ): Promise<Envoy> {
    const sources = { istiodPort: istiod.xdsPort, secretsPort };
    const bootstrap = proxyBootstrap({ type: 'sidecar', labels, ...sources });
    const envoy = await Envoy.start({ bootstrap: bootstrap.replaceAll('inference', namespace) });
    t.after(() => envoy.stop());
    return envoy;
  }

  /** The ports that Envoy listens on. */
  async function ports(envoy: Envoy): Promise<readonly number[]> {
    const { body } = await request(`http://${envoy.admin}/listeners`);
    return Array.from((await body.text()).matchAll(/:(\d+)$/gm), ([, port]) => Number(port));
  }

  test('the sidecar beside Plimsoll listens nowhere, so Plimsoll keeps its ports', async (t) => {
    const envoy = await sidecar(t, 'plimsoll', { 'app.kubernetes.io/name': 'plimsoll' });
    await waitFor('listeners, without the Sidecar', async () => (await ports(envoy)).includes(9090));
    await cluster.apply(...readManifests(deployed('kubernetes/components/mesh-mtls/sidecar.yaml')));
    await waitFor('no listeners', async () => (await ports(envoy)).length === 0);
    assert.equal(envoy.running, true);
  });

  test("a backend's sidecar that takes mTLS only lets Plimsoll read the page, with the certificate", async (t) => {
    const backend = new GaugeBackend('127.0.0.1');
    await backend.start();
    t.after(() => backend.stop());
    const [port = 0] = await steadyPorts(1);
    await cluster.apply(...strict({ port, behind: backend.port, address: ADDRESS }));
    const envoy = await sidecar(t, 'inference', { app: 'llama' });
    await waitFor('its listener', async () => (await ports(envoy)).includes(port));
    const probe = (scheme: string, ...flags: readonly string[]): Promise<string> =>
      plimsollOutput(['probe', `${scheme}://${ADDRESS}:${port}/metrics`, ...flags], t.signal);

    await assert.rejects(probe('http'));
    await assert.rejects(probe('https', '--insecure'));
    assert.equal(backend.scrapes, 0);
    const own = ['--cert', file('cert-chain.pem'), '--key', file('key.pem')];
    assert.match(await probe('https', '--insecure', ...own), /^sample +queued 0, running 0/m);
    assert.ok(backend.scrapes > 0);
  });
});

/** A workload whose sidecar is in front of it on another port, and a namespace that takes the mesh's mTLS only. */
function strict(of: {
  readonly port: number;
  readonly behind: number;
  readonly address: string;
}): readonly Manifest[] {
  const { port, behind, address } = of;
  const metadata = { name: 'llama', namespace: 'inference' };
  return [
    {
      apiVersion: 'networking.istio.io/v1',
      kind: 'Sidecar',
      metadata,
      spec: {
        workloadSelector: { labels: { app: 'llama' } },
        ingress: [
          {
            port: { number: port, protocol: 'HTTP', name: 'http' },
            bind: address,
            defaultEndpoint: `127.0.0.1:${behind}`,
          },
        ],
        egress: [{ hosts: ['~/*'] }],
      },
    },
    {
      apiVersion: 'security.istio.io/v1',
      kind: 'PeerAuthentication',
      metadata,
      spec: { mtls: { mode: 'STRICT' } },
    },
  ];
}

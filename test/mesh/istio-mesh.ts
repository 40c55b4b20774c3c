import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Envoy } from '../../src/demo/envoy.ts';
import { Cleanups } from '../support/cleanups.ts';
import { KubeApi } from '../support/kube-api.ts';
import { slice } from '../support/kube-objects.ts';
import { type Issued, TestCa } from '../support/pki.ts';
import { steadyPorts } from './steady-ports.ts';
import { Cluster } from './cluster.ts';
import { Istiod } from './istiod.ts';
import { deployed, type Manifest, readCrds, readManifests, rewritten } from './manifests.ts';
import { proxyBootstrap } from './proxy.ts';
import { SecretServer } from './secrets.ts';
import { ISTIO_CRDS } from './tools.ts';

const NAMESPACE = 'inference';
/** Where istiod says that the service's only endpoint is; nothing answers there. */
export const ISTIOD_ENDPOINT = '192.0.2.1';

/** An API server and istiod, with the service of the recipe, for Envoys to be proxies of. */
export class IstioMesh {
  /** Of the service; a sidecar listens on it. */
  readonly port: number;
  readonly gatewayPort: number;
  readonly cluster: Cluster;
  /** Of the mesh's certificates. */
  readonly authority: TestCa;
  readonly folder: string;
  readonly #istiod: Istiod;
  readonly #secretsPort: number;
  readonly #cleanups: Cleanups;

  static async start(): Promise<IstioMesh> {
    const cleanups = new Cleanups();
    try {
      const made = mkdtemp(join(tmpdir(), 'plimsoll-istio-'));
      const folder = await cleanups.own(made, (path) => rm(path, { recursive: true, force: true }));
      const [port = 0, gatewayPort = 0] = await steadyPorts(2);
      const api = await cleanups.own(KubeApi.start(), (started) => started.stop());
      const cluster = new Cluster(api.admin);
      await cluster.define(await readCrds(ISTIO_CRDS));
      await cluster.apply(...['istio-system', NAMESPACE].map(namespace), ...service(port));
      const kubeconfig = join(folder, 'kubeconfig');
      await writeFile(kubeconfig, api.kubeconfig({ token: 'admin-token' }));
      const starting = Istiod.start(join(folder, 'istiod'), kubeconfig);
      const istiod = await cleanups.own(starting, (started) => started.stop());
      const authority = await TestCa.create('CN=test mesh');
      const secrets = new SecretServer(await identity(authority, 'client'), authority.cert);
      cleanups.add(() => {
        secrets.stop();
      });
      const secretsPort = await secrets.start();
      return new IstioMesh({
        port,
        gatewayPort,
        cluster,
        authority,
        folder,
        istiod,
        secretsPort,
        cleanups,
      });
    } catch (error) {
      await cleanups.run();
      throw error;
    }
  }

  private constructor(parts: {
    readonly port: number;
    readonly gatewayPort: number;
    readonly cluster: Cluster;
    readonly authority: TestCa;
    readonly folder: string;
    readonly istiod: Istiod;
    readonly secretsPort: number;
    readonly cleanups: Cleanups;
  }) {
    this.port = parts.port;
    this.gatewayPort = parts.gatewayPort;
    this.cluster = parts.cluster;
    this.authority = parts.authority;
    this.folder = parts.folder;
    this.#istiod = parts.istiod;
    this.#secretsPort = parts.secretsPort;
    this.#cleanups = parts.cleanups;
  }

  /** Manifests of deploy/istio, for this mesh's ports and for Plimsoll at a port of 127.0.0.1. */
  recipe(xdsPort: number, ...files: readonly string[]): Manifest[] {
    const manifests = readManifests(...files.map((name) => deployed(`istio/${name}`)));
    const texts: readonly (readonly [string, string])[] = [
      ['outbound|8000||', `outbound|${this.port}||`],
      ['"portNumber":8000', `"portNumber":${this.port}`],
      ['"number":8000', `"number":${this.port}`],
      ['"number":10000', `"number":${this.gatewayPort}`],
      ['plimsoll-xds.plimsoll.svc.cluster.local:18000', `127.0.0.1:${xdsPort}`],
    ];
    const json = JSON.stringify(manifests);
    return rewritten(
      manifests,
      texts.filter(([from]) => json.includes(from)),
    );
  }

  /** Starts an Envoy as a proxy of the mesh; it ends with the mesh. */
  async proxy(type: 'sidecar' | 'router', labels: Readonly<Record<string, string>> = {}): Promise<Envoy> {
    const ports = { istiodPort: this.#istiod.xdsPort, secretsPort: this.#secretsPort };
    const starting = Envoy.start({ bootstrap: proxyBootstrap({ type, labels, ...ports }) });
    return this.#cleanups.own(starting, (envoy) => envoy.stop());
  }

  /** The certificate of a service account. */
  identity(account: string): Promise<Issued> {
    return identity(this.authority, account);
  }

  async stop(): Promise<void> {
    await this.#cleanups.run();
  }
}

function identity(authority: TestCa, account: string): Promise<Issued> {
  return authority.issue({ uri: [`spiffe://cluster.local/ns/${NAMESPACE}/sa/${account}`] });
}

function namespace(name: string): Manifest {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** The service as Kubernetes has it. */
function service(port: number): Manifest[] {
  const metadata = { name: 'llama', namespace: NAMESPACE };
  const ports = [{ name: 'http', port, targetPort: 8000 }];
  const endpoints = slice({ name: 'llama-1', service: 'llama', endpoints: [{ address: ISTIOD_ENDPOINT }] });
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app: 'llama' }, ports } },
    {
      ...(endpoints as unknown as Manifest),
      metadata: { ...(endpoints['metadata'] as Manifest['metadata']), namespace: NAMESPACE },
    },
  ];
}

import { readFile, writeFile } from 'node:fs/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubernetesDiscovery, KubernetesTarget } from '../../src/core/model/discovery.ts';
import type { Discoverer } from '../../src/discovery/discoverer.ts';
import { KubernetesDiscoverer } from '../../src/discovery/kubernetes.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { DiscoveryRun } from './discovery-run.ts';
import { goModule } from './go-tool.ts';
import { KubeApi } from './kube-api.ts';
import type { KubeObject } from './kube-client.ts';
import type { PodObject } from './kube-objects.ts';
import { waitFor } from './wait-for.ts';

export const INFERENCE_EXTENSION = {
  module: 'sigs.k8s.io/gateway-api-inference-extension',
  version: 'v1.4.0',
};
const POOL_CRD = 'config/crd/bases/inference.networking.k8s.io_inferencepools.yaml';

/** A cluster with one namespace, and discoverers that look into it. `stop` it. */
export class KubeCluster {
  readonly api: KubeApi;
  readonly namespace = 'prod';
  readonly folder: string;
  readonly #runs: DiscoveryRun[] = [];

  static async start(): Promise<KubeCluster> {
    const api = await KubeApi.start();
    const cluster = new KubeCluster(api);
    try {
      await api.admin.call('POST', '/api/v1/namespaces', { metadata: { name: cluster.namespace } });
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  private constructor(api: KubeApi) {
    this.api = api;
    this.folder = mkdtempSync(join(tmpdir(), 'plimsoll-cluster-'));
  }

  async stop(): Promise<void> {
    await this.endRuns();
    await this.api.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Ends the discoverers. */
  async endRuns(): Promise<void> {
    await Promise.all(this.#runs.splice(0).map((run) => run.stop()));
  }

  /** Writes a kubeconfig file. @param user as one has it; default: an administrator @returns its path */
  async kubeconfig(user: KubeObject = { token: 'admin-token' }, server = this.api.url): Promise<string> {
    const path = join(this.folder, `kubeconfig-${Math.trunc(performance.now() * 1000)}`);
    await writeFile(path, this.api.kubeconfig(user, server));
    return path;
  }

  /** Looks for backends. @param kubeconfigFile default: an administrator's */
  async discover(target: KubernetesTarget, kubeconfigFile?: string): Promise<DiscoveryRun> {
    const settings: KubernetesDiscovery = {
      kind: 'Kubernetes',
      namespace: this.namespace,
      target,
      kubeconfigFile: kubeconfigFile ?? (await this.kubeconfig()),
    };
    return this.follow(new KubernetesDiscoverer({ settings, clock: systemClock }));
  }

  /** Runs a discoverer until {@link endRuns}. */
  follow(discoverer: Discoverer): DiscoveryRun {
    const run = new DiscoveryRun(discoverer);
    this.#runs.push(run);
    return run;
  }

  /** Resolves when the API server serves so many watches of a resource that are not for the whole cluster. */
  async watched(resource: string, count: number): Promise<void> {
    await waitFor(`${count} watches of ${resource}`, async () => {
      const { body } = await this.api.admin.ask('GET', '/metrics');
      const lines = String(body['text'])
        .split('\n')
        .filter((line) => line.startsWith('apiserver_longrunning_requests{'));
      const own = lines.filter(
        (line) => line.includes(`resource="${resource}"`) && !line.includes('scope="cluster"'),
      );
      return own.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0) === count;
    });
  }

  core(plural: string, name = ''): string {
    return `/api/v1/namespaces/${this.namespace}/${plural}${name && `/${name}`}`;
  }

  slices(name = ''): string {
    return `/apis/discovery.k8s.io/v1/namespaces/${this.namespace}/endpointslices${name && `/${name}`}`;
  }

  pools(name = ''): string {
    return `/apis/inference.networking.k8s.io/v1/namespaces/${this.namespace}/inferencepools${name && `/${name}`}`;
  }

  /** Creates a pod that runs. */
  async runPod(pod: PodObject, status: KubeObject): Promise<void> {
    await this.api.admin.call('POST', this.core('pods'), pod);
    await this.api.admin.call('PATCH', `${this.core('pods', pod.metadata.name)}/status`, status);
  }

  /** Makes the API server serve InferencePools. */
  async installPools(): Promise<void> {
    const { module, version } = INFERENCE_EXTENSION;
    const crd: unknown = parse(await readFile(join(await goModule(module, version), POOL_CRD), 'utf8'));
    await this.api.admin.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    await waitFor(
      'InferencePools',
      async () => (await this.api.admin.ask('GET', this.pools())).status === 200,
    );
  }

  /** Puts a Role there, and binds it to a service account. */
  async grant(name: string, rules: readonly unknown[], account: KubeObject): Promise<void> {
    const { admin } = this.api;
    await admin.call('POST', `${this.#rbac}/roles`, { metadata: { name }, rules });
    await admin.call('POST', `${this.#rbac}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    });
  }

  async changeGrant(name: string, rules: readonly unknown[]): Promise<void> {
    await this.api.admin.call('PATCH', `${this.#rbac}/roles/${name}`, { rules });
  }

  async withdraw(name: string): Promise<void> {
    await this.api.admin.call('DELETE', `${this.#rbac}/rolebindings/${name}`);
    await this.api.admin.call('DELETE', `${this.#rbac}/roles/${name}`);
  }

  get #rbac(): string {
    return `/apis/rbac.authorization.k8s.io/v1/namespaces/${this.namespace}`;
  }
}

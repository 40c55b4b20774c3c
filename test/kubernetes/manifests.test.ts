import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseConfiguration } from '../../src/config/load.ts';
import { KubernetesDiscoverer } from '../../src/discovery/kubernetes.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Cluster } from '../mesh/cluster.ts';
import { deployed, type Manifest, parseManifests, readCrds } from '../mesh/manifests.ts';
import { ISTIO_CRDS, KUSTOMIZE } from '../mesh/tools.ts';
import { Cleanups } from '../support/cleanups.ts';
import { DiscoveryRun } from '../support/discovery-run.ts';
import { goTool } from '../support/go-tool.ts';
import { KubeApi } from '../support/kube-api.ts';
import { KubeClient } from '../support/kube-client.ts';
import { slice } from '../support/kube-objects.ts';
import { CERT_MANAGER_CRDS, PROMETHEUS_OPERATOR_CRDS } from './tools.ts';

/** Folders below deploy/kubernetes, and a kind that what kustomize makes of each must have. */
const FOLDERS = [
  ['base', 'NetworkPolicy'],
  ['fleet', 'Deployment'],
  ['overlays/cert-manager-mtls', 'Certificate'],
  ['overlays/service-monitor', 'PrometheusRule'],
  ['overlays/mesh-mtls', 'Sidecar'],
] as const;

interface PodTemplate {
  readonly metadata: { readonly labels: object; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly { readonly readinessProbe?: unknown; readonly args?: readonly string[] }[];
  };
}

describe('deploy/kubernetes, made by kustomize, at a real API server', { timeout: 280_000 }, () => {
  let kustomize = '';
  let api: KubeApi;
  let cluster: Cluster;
  let folder = '';
  const cleanups = new Cleanups();
  before(async () => {
    kustomize = await goTool(KUSTOMIZE);
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-manifests-'));
    cleanups.add(() => rmSync(folder, { recursive: true, force: true }));
    api = await cleanups.own(KubeApi.start(), (started) => started.stop());
    cluster = new Cluster(api.admin);
    await cluster.define([
      ...(await readCrds(CERT_MANAGER_CRDS)),
      ...(await readCrds(PROMETHEUS_OPERATOR_CRDS)),
      ...(await readCrds(ISTIO_CRDS)).filter(({ metadata }) => metadata.name.startsWith('sidecars.')),
    ]);
    const namespaces = [...built('base'), ...built('fleet')].filter(({ kind }) => kind === 'Namespace');
    const certManager = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cert-manager' } };
    await cluster.apply(...namespaces, certManager);
  });
  after(() => cleanups.run());

  function built(name: string): Manifest[] {
    const path = fileURLToPath(deployed(`kubernetes/${name}`));
    return parseManifests(execFileSync(kustomize, ['build', path], { encoding: 'utf8' }));
  }

  /** Those of a folder's Deployments. */
  function templates(name: string): readonly PodTemplate[] {
    return built(name)
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => (spec as { readonly template: PodTemplate }).template);
  }

  /** A pod as the Deployment's controller would make it, in the namespace that enforces the restricted standard. */
  function podOf({ metadata, spec }: PodTemplate): Manifest {
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, name: 'tried', namespace: 'plimsoll' },
      spec,
    };
  }

  for (const [name, kind] of FOLDERS) {
    test(`${name} is taken`, async () => {
      const manifests = built(name);
      assert.ok(
        manifests.some((manifest) => manifest.kind === kind),
        `no ${kind}`,
      );
      for (const manifest of manifests.filter((one) => one.kind !== 'Namespace')) {
        assert.equal(
          await cluster.refusal(manifest),
          undefined,
          `${manifest.kind} ${manifest.metadata.name}`,
        );
      }
    });

    test(`${name}: its pods are let in by the restricted standard`, async () => {
      for (const template of templates(name)) assert.equal(await cluster.refusal(podOf(template)), undefined);
    });
  }

  test('a pod that may do more is not let in', async () => {
    const [template = assert.fail()] = templates('base');
    const privileged = { ...template.spec, hostNetwork: true };
    assert.match(
      (await cluster.refusal(podOf({ ...template, spec: privileged }))) ?? '',
      /violates PodSecurity \\"restricted:/,
    );
  });

  test('what overlays change leaves the rest as it is', () => {
    const [plain = assert.fail()] = templates('base');
    const [secured = assert.fail()] = templates('overlays/cert-manager-mtls').filter(({ spec }) =>
      spec.containers.some(({ args }) => args?.[0] === 'serve'),
    );
    assert.deepEqual(secured.spec.containers[0]?.readinessProbe, {
      failureThreshold: 2,
      httpGet: { path: '/readyz', port: 'admin', scheme: 'HTTPS' },
      periodSeconds: 2,
      timeoutSeconds: 2,
    });
    assert.deepEqual(secured.spec.containers[0]?.args, plain.spec.containers[0]?.args);
    const [meshed = assert.fail()] = templates('overlays/mesh-mtls');
    assert.deepEqual(meshed.metadata.labels, { ...plain.metadata.labels, 'sidecar.istio.io/inject': 'true' });
    const mounts: unknown = JSON.parse(
      meshed.metadata.annotations?.['sidecar.istio.io/userVolumeMount'] ?? '',
    );
    assert.deepEqual(mounts, { 'istio-certificate': { mountPath: '/etc/istio-output-certs' } });
    const namespace = built('overlays/mesh-mtls').find(({ kind }) => kind === 'Namespace');
    assert.deepEqual(namespace?.metadata, {
      name: 'plimsoll',
      labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    });
  });

  test('all components go together', async () => {
    const path = (name: string): string =>
      relative(realpathSync(folder), fileURLToPath(deployed(`kubernetes/${name}`)));
    const names = readdirSync(deployed('kubernetes/components'));
    const components = names.map((name) => path(`components/${name}`));
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      JSON.stringify({ resources: [path('base')], components }),
    );
    const manifests = parseManifests(execFileSync(kustomize, ['build', folder], { encoding: 'utf8' }));
    assert.equal(manifests.filter(({ kind }) => kind === 'RoleBinding').length, 3);
    for (const manifest of manifests.filter(({ kind }) => kind !== 'Namespace')) {
      assert.equal(await cluster.refusal(manifest), undefined);
    }
  });

  test('the ConfigMap keeps its name in every overlay, so that a change reaches the pods that run', () => {
    for (const [name] of FOLDERS.filter(([one]) => one !== 'fleet')) {
      const names = built(name)
        .filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.namespace === 'plimsoll')
        .map(({ metadata }) => metadata.name);
      assert.deepEqual(names, ['plimsoll'], name);
    }
  });

  test('with the configuration and the account that it brings, Plimsoll finds the fleet', async () => {
    await cluster.apply(...built('base').filter(({ kind }) => kind !== 'Namespace'));
    await cluster.apply(...built('fleet').filter(({ kind }) => kind !== 'Namespace'));
    const endpoints = slice({ name: 'llama-1', service: 'llama', endpoints: [{ address: '10.0.0.1' }] });
    await api.admin.call('POST', '/apis/discovery.k8s.io/v1/namespaces/inference/endpointslices', endpoints);
    const { body } = await api.admin.ask('GET', '/api/v1/namespaces/plimsoll/configmaps/plimsoll');
    const file = (body as { readonly data: Readonly<Record<string, string>> }).data['plimsoll.yaml'] ?? '';
    const read = parseConfiguration(file, 'plimsoll.yaml');
    assert.ok(read.kind === 'valid');
    const discovery = read.configuration.serverGroups[0]?.discovery;
    assert.ok(discovery?.kind === 'Kubernetes');

    const token = await api.newToken('plimsoll', 'plimsoll');
    const kubeconfigFile = join(folder, 'kubeconfig');
    writeFileSync(kubeconfigFile, api.kubeconfig({ token }));
    const settings = { ...discovery, kubeconfigFile };
    const run = new DiscoveryRun(new KubernetesDiscoverer({ settings, clock: systemClock }));
    await run.until(['10.0.0.1:8000']);
    await run.stop();
    assert.deepEqual(run.failures, []);

    const client = new KubeClient(api.url, api.ca, token);
    const others = ['inference/secrets', 'plimsoll/secrets', 'plimsoll/configmaps', 'inference/pods'];
    for (const path of others) {
      assert.equal((await client.ask('GET', `/api/v1/namespaces/${path}`)).status, 403, path);
    }
    await client.close();
  });
});

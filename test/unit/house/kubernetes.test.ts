import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, test } from 'node:test';
import { parseConfiguration } from '../../../src/config/load.ts';
import type { Configuration } from '../../../src/core/model/configuration.ts';
import {
  type Container,
  KUBERNETES,
  kubernetesFiles,
  type KubernetesManifest,
  kubernetesManifests,
} from '../../support/kubernetes-files.ts';

const manifests = kubernetesManifests();
const read = (name: string): string => readFileSync(new URL(name, KUBERNETES), 'utf8');
const rootFile = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');

function only(kind: string, name: string, file = ''): KubernetesManifest {
  const found = manifests.filter(
    (one) => one.kind === kind && one.metadata?.name === name && one.file.startsWith(file),
  );
  assert.equal(found.length, 1, `${kind} ${name}`);
  return found[0] ?? assert.fail();
}

function configurationOf(file: string): Configuration {
  const result = parseConfiguration(read(file), file);
  return result.kind === 'valid' ? result.configuration : assert.fail(`${file} is not valid`);
}

const base = configurationOf('base/plimsoll.yaml');
const deployment = only('Deployment', 'plimsoll', 'base/');
const pod = deployment.spec?.template?.spec ?? assert.fail();
const [container = assert.fail()] = pod.containers;

describe('deploy/kubernetes', () => {
  test('every file is used by a kustomization', () => {
    const used = manifests
      .filter(({ kind }) => kind === 'Kustomization' || kind === 'Component')
      .flatMap(({ file, resources = [], components = [], patches = [], configMapGenerator = [] }) =>
        [
          ...resources,
          ...components,
          ...patches.map(({ path }) => path),
          ...configMapGenerator.flatMap(({ files }) => files),
        ].map((path) => posix.join(posix.dirname(file), path)),
      );
    const unused = kubernetesFiles().filter(
      (name) => !name.endsWith('kustomization.yaml') && !used.includes(name),
    );
    assert.deepEqual(unused, []);
    const files = kubernetesFiles();
    const missing = used.filter(
      (path) => !files.some((name) => name === path || name.startsWith(`${path}/`)),
    );
    assert.deepEqual(missing, []);
  });

  test('images have a tag: the version of this package, and that of the Envoy that tests run', () => {
    const { version } = JSON.parse(rootFile('package.json')) as { readonly version: string };
    const envoy = /ENVOY_VERSION = '([\d.]+)'/.exec(rootFile('deploy/setup.mjs'))?.[1] ?? assert.fail();
    const images = new Set(allContainers().map(({ image }) => image));
    assert.deepEqual([...images].toSorted(), [`envoyproxy/envoy:v${envoy}`, `plimsoll:${version}`]);
  });

  test('every container is as the restricted standard for pods wants it, and reads only', () => {
    for (const { spec } of manifests.filter(({ kind, file }) => kind === 'Deployment' && isWhole(file))) {
      const { securityContext } = spec?.template?.spec ?? assert.fail();
      assert.equal(securityContext?.['runAsNonRoot'], true);
      assert.ok(Number(securityContext['runAsUser']) > 0);
      assert.deepEqual(securityContext['seccompProfile'], { type: 'RuntimeDefault' });
    }
    for (const { name, securityContext, resources } of allContainers()) {
      const wanted = {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      };
      assert.deepEqual(securityContext, wanted, name);
      assert.ok(resources?.requests !== undefined && resources.limits?.memory !== undefined, name);
    }
  });

  test('ports, probes and files are those of the configuration', () => {
    const ports = new Map(container.ports?.map(({ name, containerPort }) => [name, containerPort]));
    assert.deepEqual(
      ports,
      new Map([
        ['xds', base.xds.listen.port],
        ['admin', base.admin.listen.port],
      ]),
    );
    for (const name of ['xds', 'admin']) {
      const [served] = only('Service', `plimsoll-${name}`).spec?.ports ?? [];
      assert.deepEqual(served, { name, port: ports.get(name), targetPort: name });
    }
    assert.equal(only('Service', 'plimsoll-xds').spec?.clusterIP, 'None');
    const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
    assert.deepEqual(
      probes.map((probe) => probe?.httpGet),
      ['/healthz', '/readyz', '/healthz'].map((path) => ({ path, port: 'admin' })),
    );
    assert.deepEqual(container.args, ['serve', '--config', '/etc/plimsoll/plimsoll.yaml']);
  });

  test('there are two replicas, and time for the drain period', () => {
    assert.equal(deployment.spec?.replicas, 2);
    const longest = Math.max(
      ...base.serverGroups.map(({ loadAware }) => loadAware?.collect.timeoutSeconds ?? 0),
    );
    const needed = base.xds.drainSeconds + 2 * longest + 10;
    assert.ok((pod.terminationGracePeriodSeconds ?? 0) >= needed, `${needed} s are needed`);
  });

  for (const [overlay, component] of [
    ['base', undefined],
    ['overlays/cert-manager-mtls', 'cert-manager-mtls'],
    ['overlays/mesh-mtls', 'mesh-mtls'],
  ] as const) {
    test(`${overlay}: what the configuration reads is mounted`, () => {
      const patch =
        component === undefined ? undefined : only('Deployment', 'plimsoll', `components/${component}/`);
      const mounts = [container, ...(patch?.spec?.template?.spec.containers ?? [])].flatMap(
        ({ volumeMounts = [] }) => volumeMounts,
      );
      const volumes = [...(pod.volumes ?? []), ...(patch?.spec?.template?.spec.volumes ?? [])];
      for (const { name } of mounts)
        assert.ok(
          volumes.some((volume) => volume.name === name),
          name,
        );
      const paths = [...read(`${overlay}/plimsoll.yaml`).matchAll(/File: (\/[\w/.-]+)/g)].map(
        ([, path = '']) => posix.dirname(path),
      );
      assert.ok(paths.length > 0);
      for (const path of paths)
        assert.ok(
          mounts.some(({ mountPath }) => mountPath === path),
          path,
        );
    });

    test(`${overlay}: the rights are those that its groups need, in their namespaces`, () => {
      const { serverGroups } = configurationOf(`${overlay}/plimsoll.yaml`);
      for (const { discovery } of serverGroups) {
        assert.ok(discovery?.kind === 'Kubernetes' && discovery.target.kind === 'Service');
        const role = only('Role', 'plimsoll-service');
        assert.equal(role.metadata?.namespace, discovery.namespace);
        assert.deepEqual(
          role.rules?.flatMap(({ resources }) => resources),
          ['endpointslices', 'services'],
        );
        const service = only('Service', discovery.target.service);
        assert.equal(service.metadata?.namespace, discovery.namespace);
        assert.ok(service.spec?.ports?.some(({ name }) => name === 'http'));
      }
    });
  }

  test('every configuration begins with Observe, and the README has the step to Active', () => {
    const recipes = ['istio', 'envoy-gateway'].map((name) => `../${name}/plimsoll/plimsoll.yaml`);
    const files = [...kubernetesFiles().filter((name) => name.endsWith('plimsoll.yaml')), ...recipes];
    assert.ok(files.length > 4);
    for (const name of files) {
      for (const { mode } of configurationOf(name).serverGroups) assert.equal(mode, 'Observe', name);
    }
    for (const folder of ['.', '../istio', '../envoy-gateway']) {
      assert.match(read(`${folder}/README.md`), /set `Mode: Active`/, folder);
    }
  });

  test('every Role only lists and watches, and is bound to the account of the pods', () => {
    const roles = manifests.filter(({ kind }) => kind === 'Role');
    assert.equal(roles.length, 3);
    for (const { metadata, rules = [] } of roles) {
      for (const { verbs } of rules) assert.deepEqual(verbs, ['list', 'watch']);
      const binding = only('RoleBinding', metadata?.name ?? '');
      assert.equal(binding.metadata?.namespace, metadata?.namespace);
      assert.equal(binding.roleRef?.name, metadata?.name);
      const { metadata: account } = only('ServiceAccount', pod.serviceAccountName ?? '');
      assert.deepEqual(binding.subjects, [
        { kind: 'ServiceAccount', name: account?.name, namespace: account?.namespace },
      ]);
    }
  });

  test('the namespace of the fleet has the labels that the network policy goes by', () => {
    const policy = read('base/network-policy.yaml');
    for (const label of Object.keys(only('Namespace', 'inference').metadata?.labels ?? {})) {
      assert.ok(policy.includes(`matchLabels: { ${label}: "true" }`), label);
    }
  });

  test("the sidecar of mesh-mtls reaches istiod's port for certificates through the network policies", () => {
    const { spec } = only('NetworkPolicy', 'plimsoll-istiod', 'components/mesh-mtls/');
    assert.deepEqual(spec?.podSelector, only('NetworkPolicy', 'plimsoll').spec?.podSelector);
    const istiod = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'istio-system' } } };
    assert.deepEqual(spec?.egress, [{ to: [istiod], ports: [{ protocol: 'TCP', port: 15_012 }] }]);
  });
});

/** Not a patch, which has only what differs. */
function isWhole(file: string): boolean {
  return file.startsWith('base/') || file.startsWith('fleet/');
}

function allContainers(): readonly Container[] {
  return manifests
    .filter(({ kind, file }) => kind === 'Deployment' && isWhole(file))
    .flatMap(({ spec }) => {
      const { containers = [], initContainers = [] } = spec?.template?.spec ?? {};
      return [...containers, ...initContainers];
    });
}

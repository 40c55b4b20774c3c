import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { goTool } from '../support/go-tool.ts';
import { KubeApi } from '../support/kube-api.ts';
import { Cluster } from './cluster.ts';
import { deployed, type Manifest, parseManifests, readCrds, readManifests } from './manifests.ts';
import { GATEWAY_CRDS, ISTIO_CRDS, KUSTOMIZE } from './tools.ts';

/** Folders below deploy with a kustomization.yaml, and what must be in what kustomize makes of them. */
const FOLDERS: readonly (readonly [string, ...kinds: readonly string[]])[] = [
  ['istio', 'EnvoyFilter', 'DestinationRule', 'VirtualService'],
  ['istio/plimsoll', 'Deployment', 'ConfigMap', 'Service'],
  ['envoy-gateway', 'EnvoyProxy', 'Gateway', 'HTTPRoute', 'BackendTrafficPolicy'],
  ['envoy-gateway/plimsoll', 'Deployment', 'ConfigMap', 'Service'],
];

let api: KubeApi;
let cluster: Cluster;
let kustomize = '';

before(async () => {
  kustomize = await goTool(KUSTOMIZE);
  api = await KubeApi.start();
  cluster = new Cluster(api.admin);
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'inference' } });
  await cluster.define([...(await readCrds(ISTIO_CRDS)), ...(await readCrds(GATEWAY_CRDS))]);
});
after(async () => {
  await api?.stop();
});

function built(folder: string): Manifest[] {
  const path = fileURLToPath(deployed(folder));
  return parseManifests(execFileSync(kustomize, ['build', path], { encoding: 'utf8' }));
}

async function assertTaken(manifests: readonly Manifest[]): Promise<void> {
  const namespaces = manifests.filter(({ kind }) => kind === 'Namespace');
  // what is in them can be tried only where they are
  await cluster.apply(...namespaces);
  for (const manifest of manifests.filter((one) => !namespaces.includes(one))) {
    assert.equal(await cluster.refusal(manifest), undefined, `${manifest.kind} ${manifest.metadata.name}`);
  }
}

describe('made by kustomize and taken by an API server with the definitions', () => {
  for (const [folder, ...kinds] of FOLDERS) {
    test(`deploy/${folder}`, async () => {
      const manifests = built(folder);
      const found = manifests.map(({ kind }) => kind);
      for (const kind of kinds) assert.ok(found.includes(kind), `no ${kind} among ${found.join(', ')}`);
      await assertTaken(manifests);
    });
  }

  for (const file of ['istio/gateway.yaml', 'envoy-gateway/envoy-patch-policy.yaml']) {
    test(`deploy/${file}`, () => assertTaken(readManifests(deployed(file))));
  }
});

test('a field that there is not is refused', async () => {
  const [filter] = readManifests(deployed('istio/envoy-filter.yaml'));
  const refusal = await cluster.refusal({ ...(filter ?? assert.fail()), spec: { configPatch: [] } });
  assert.match(refusal ?? '', /unknown field \\"spec.configPatch\\"/);
});

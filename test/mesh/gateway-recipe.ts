import { deployed, type Manifest, readManifests, rewritten } from './manifests.ts';

/** Of deploy/envoy-gateway. */
const FILES = ['envoy-proxy.yaml', 'gateway.yaml', 'backend-traffic-policy.yaml', 'envoy-patch-policy.yaml'];

export interface GatewayRecipeOptions {
  /** Where the gateway listens. */
  readonly port: number;
  /** Of Plimsoll, on 127.0.0.1. */
  readonly xdsPort: number;
  /** What the gateway would send requests to without Plimsoll. */
  readonly own: { readonly address: string; readonly port: number };
}

/** The recipe, with what is otherwise here: no Kubernetes to look services up in, and other ports. */
export function gatewayRecipe({ port, xdsPort, own }: GatewayRecipeOptions): Manifest[] {
  const manifests = rewritten(readManifests(...FILES.map((name) => deployed(`envoy-gateway/${name}`))), [
    ['"port":10000', `"port":${port}`],
    ['address: plimsoll-xds.plimsoll.svc.cluster.local', 'address: 127.0.0.1'],
    ['port_value: 18000', `port_value: ${xdsPort}`],
    ['{"name":"llama","port":8000}', '{"group":"gateway.envoyproxy.io","kind":"Backend","name":"llama"}'],
    ['{"bootstrap":', '{"provider":{"type":"Host","host":{"envoyVersion":"1.40.0"}},"bootstrap":'],
  ]);
  const backend = {
    apiVersion: 'gateway.envoyproxy.io/v1alpha1',
    kind: 'Backend',
    metadata: { name: 'llama', namespace: 'inference' },
    spec: { endpoints: [{ ip: { address: own.address, port: own.port } }] },
  };
  return [...manifests, backend];
}

/** What the recipe puts into the configuration of Envoy Gateway, and what there has to be for a `Backend`. */
export function gatewaySettings(extensionApis: Readonly<Record<string, boolean>> = {}): object {
  const [settings] = readManifests(deployed('envoy-gateway/envoy-gateway.yaml'));
  const { extensionApis: recommended } = settings as unknown as { readonly extensionApis: object };
  return { ...settings, extensionApis: { ...recommended, enableBackend: true, ...extensionApis } };
}

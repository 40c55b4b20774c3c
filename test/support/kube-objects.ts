import type { KubeObject } from './kube-client.ts';

/** Objects as controllers and kubelets would write them, with nothing but what is needed. */

export interface EndpointWanted {
  readonly address: string;
  /** Default: ready, serving, not terminating. */
  readonly conditions?: Readonly<Record<string, boolean>>;
  readonly zone?: string;
}

export interface SliceWanted {
  readonly name: string;
  readonly service: string;
  readonly endpoints: readonly EndpointWanted[];
  readonly addressType?: 'IPv4' | 'IPv6' | 'FQDN';
  readonly ports?: readonly KubeObject[];
}

export function slice({
  name,
  service: of,
  endpoints,
  addressType = 'IPv4',
  ports,
}: SliceWanted): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, labels: { 'kubernetes.io/service-name': of } },
    addressType,
    ports: ports ?? [{ name: 'http', port: 8000, protocol: 'TCP' }],
    endpoints: endpoints.map(({ address, conditions, zone }) => ({
      addresses: [address],
      conditions: { ready: true, serving: true, terminating: false, ...conditions },
      ...(zone !== undefined && { zone }),
    })),
  };
}

export function service(name: string, spec: KubeObject = {}): KubeObject {
  return {
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80 }], ...spec },
  };
}

export interface PodWanted {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

export type PodObject = KubeObject & { readonly metadata: KubeObject & { readonly name: string } };

export function pod({ name, labels, annotations = {}, finalizers = [] }: PodWanted): PodObject {
  return {
    metadata: { name, labels, annotations, finalizers },
    spec: { containers: [{ name: 'engine', image: 'engine' }], automountServiceAccountToken: false },
  };
}

/** What a kubelet says of a pod that runs. */
export function podStatus(ip: string, ready = true): KubeObject {
  const condition = { type: 'Ready', status: ready ? 'True' : 'False' };
  return { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [condition] } };
}

export function pool(name: string, app: string, ports: readonly number[]): KubeObject {
  return {
    apiVersion: 'inference.networking.k8s.io/v1',
    kind: 'InferencePool',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app } },
      targetPorts: ports.map((number) => ({ number })),
      endpointPickerRef: { name: 'picker', port: { number: 9002 } },
    },
  };
}

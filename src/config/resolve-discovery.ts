import type { DiscoverySettings, KubernetesTarget } from '../core/model/discovery.ts';
import { PlimsollError } from '../runtime/errors.ts';
import type { DiscoveryFields } from './schema.ts';

/** What a checked Discovery stands for. */
export function resolveDiscovery({
  Dns: dns,
  File: file,
  Kubernetes: kubernetes,
}: DiscoveryFields): DiscoverySettings {
  if (dns !== undefined) {
    const { Name: name, Type: type, Port: port, Resolvers: resolvers = [] } = dns;
    return { kind: 'Dns', name, type, port, resolvers };
  }
  if (file !== undefined) return { kind: 'File', path: file.Path, format: file.Format };
  if (kubernetes === undefined) throw new PlimsollError('internal', 'a checked Discovery has no source');
  const { Namespace: namespace, KubeconfigFile: kubeconfigFile } = kubernetes;
  return { kind: 'Kubernetes', namespace, target: resolveTarget(kubernetes), kubeconfigFile };
}

function resolveTarget(of: NonNullable<DiscoveryFields['Kubernetes']>): KubernetesTarget {
  const { Service: service, PortName: portName, PodSelector: selector, Port: port, InferencePool: pool } = of;
  if (service !== undefined) return { kind: 'Service', service, portName };
  if (pool !== undefined) return { kind: 'InferencePool', name: pool };
  if (selector !== undefined && port !== undefined) return { kind: 'Pods', selector, port };
  throw new PlimsollError('internal', 'a checked Kubernetes discovery has no target');
}

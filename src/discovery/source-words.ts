import type { DiscoverySettings, KubernetesTarget } from '../core/model/discovery.ts';

/** Where backends are looked for, for people: `file /etc/plimsoll/backends.yaml`. */
export function sourceWords(settings: DiscoverySettings): string {
  switch (settings.kind) {
    case 'Dns': {
      const { type, name, port } = settings;
      return type === 'SRV' ? `SRV records of ${name}` : `addresses of ${name}, port ${port ?? 'unknown'}`;
    }
    case 'File':
      return `file ${settings.path}`;
    case 'Kubernetes':
      return `Kubernetes ${targetWords(settings.target)} in ${settings.namespace}`;
  }
}

function targetWords(target: KubernetesTarget): string {
  switch (target.kind) {
    case 'Service':
      return target.portName === undefined
        ? `Service ${target.service}`
        : `Service ${target.service}, port ${target.portName},`;
    case 'Pods':
      return `pods ${target.selector}, port ${target.port},`;
    case 'InferencePool':
      return `InferencePool ${target.name}`;
  }
}

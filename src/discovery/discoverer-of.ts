import type { DiscoverySettings } from '../core/model/discovery.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Discoverer } from './discoverer.ts';
import { DnsDiscoverer } from './dns.ts';
import { FileDiscoverer } from './file.ts';

/** The source that these settings mean. What speaks to Kubernetes is loaded only when it is used. */
export function discovererOf(settings: DiscoverySettings, clock: Clock): Discoverer {
  switch (settings.kind) {
    case 'Dns':
      return new DnsDiscoverer({ settings, clock });
    case 'File':
      return new FileDiscoverer({ settings, clock });
    case 'Kubernetes':
      return loadedLater(async () => {
        const { KubernetesDiscoverer } = await import('./kubernetes.ts');
        return new KubernetesDiscoverer({ settings, clock });
      });
  }
}

function loadedLater(load: () => Promise<Discoverer>): Discoverer {
  return {
    run: async (observer, signal) => {
      const discoverer = await load();
      await discoverer.run(observer, signal);
    },
  };
}

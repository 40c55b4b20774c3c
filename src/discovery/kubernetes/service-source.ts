import type { Discoverer, DiscoveryObserver } from '../discoverer.ts';
import type { ApiSettings } from './api-settings.ts';
import {
  foundInSlices,
  keepService,
  keepSlice,
  type KeptService,
  type KeptSlice,
} from './endpoint-slices.ts';
import { Parts, type Sum } from './parts.ts';
import { Reflector } from './reflector.ts';

const PAGE_SIZE = 100;

/** The backends of a Service, from its EndpointSlices. The Service itself says whether it is there, and its families. */
export class ServiceSource implements Discoverer {
  readonly #settings: ApiSettings;
  readonly #service: string;
  readonly #portName: string | undefined;

  constructor(settings: ApiSettings, service: string, portName: string | undefined) {
    this.#settings = settings;
    this.#service = service;
    this.#portName = portName;
  }

  async run(observer: DiscoveryObserver, signal: AbortSignal): Promise<void> {
    const { namespace } = this.#settings;
    let services: ReadonlyMap<string, KeptService> | undefined;
    let slices: ReadonlyMap<string, KeptSlice> | undefined;
    let families: readonly string[] = [];
    let isKnown = false;
    const absent = `there is no Service ${this.#service} in namespace ${namespace}`;
    const sum = (): Sum => {
      if (services === undefined || slices === undefined) return undefined;
      const service = services.get(this.#service);
      // one that is deleted has no endpoints; one that never was is a mistake
      if (service === undefined && slices.size === 0 && !isKnown) return { kind: 'failed', reason: absent };
      isKnown = true;
      families = service?.families ?? families;
      const { found, leftOut } = foundInSlices(slices, families, this.#portName);
      return { kind: 'found', found, leftOut: service === undefined ? [absent, ...leftOut] : leftOut };
    };
    const parts = new Parts(observer, sum);
    const slicesReflector = new Reflector({
      ...this.#settings,
      wanted: {
        resource: { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespace },
        selector: { labelSelector: `kubernetes.io/service-name=${this.#service}` },
        pageSize: PAGE_SIZE,
        keep: keepSlice,
        weigh: ({ endpoints }: KeptSlice) => endpoints.length,
      },
      observer: parts.part('slices', (objects: ReadonlyMap<string, KeptSlice>) => {
        slices = objects;
      }),
    });
    const serviceReflector = new Reflector({
      ...this.#settings,
      wanted: {
        resource: { group: '', version: 'v1', plural: 'services', namespace },
        selector: { fieldSelector: `metadata.name=${this.#service}` },
        pageSize: PAGE_SIZE,
        keep: keepService,
        weigh: () => 1,
      },
      observer: parts.part('service', (objects: ReadonlyMap<string, KeptService>) => {
        services = objects;
      }),
    });
    await Promise.all([slicesReflector.run(signal), serviceReflector.run(signal)]);
  }
}

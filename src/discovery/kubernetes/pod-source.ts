import type { Discoverer, DiscoveryObserver } from '../discoverer.ts';
import type { ApiSettings } from './api-settings.ts';
import { foundInPods, keepPod, type KeptPod } from './pods.ts';
import { Reflector, type ReflectorObserver } from './reflector.ts';

/** A pod is some 10 to 30 KiB of JSON. */
const PAGE_SIZE = 100;

/** The pods with these labels. */
export function podReflector(
  settings: ApiSettings,
  labelSelector: string,
  observer: ReflectorObserver<KeptPod>,
): Reflector<KeptPod> {
  return new Reflector({
    ...settings,
    wanted: {
      resource: { group: '', version: 'v1', plural: 'pods', namespace: settings.namespace },
      selector: { labelSelector },
      pageSize: PAGE_SIZE,
      keep: keepPod,
      weigh: () => 1,
    },
    observer,
  });
}

/** Pods by their labels, all at one port. */
export class PodSource implements Discoverer {
  readonly #settings: ApiSettings;
  readonly #labelSelector: string;
  readonly #port: number;

  constructor(settings: ApiSettings, labelSelector: string, port: number) {
    this.#settings = settings;
    this.#labelSelector = labelSelector;
    this.#port = port;
  }

  async run(observer: DiscoveryObserver, signal: AbortSignal): Promise<void> {
    const reflector = podReflector(this.#settings, this.#labelSelector, {
      changed: (pods) => {
        const { found, leftOut } = foundInPods(pods, [this.#port]);
        observer.found(found, leftOut);
      },
      failed: (reason) => {
        observer.failed(reason);
      },
    });
    await reflector.run(signal);
  }
}

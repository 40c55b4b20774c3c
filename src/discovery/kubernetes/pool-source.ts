import type { Discoverer, DiscoveryObserver } from '../discoverer.ts';
import type { ApiSettings } from './api-settings.ts';
import { keepPool, type KeptPool } from './inference-pool.ts';
import { Parts, type Sum } from './parts.ts';
import { podReflector } from './pod-source.ts';
import { foundInPods, type KeptPod } from './pods.ts';
import { Reflector } from './reflector.ts';

type Pool = Extract<KeptPool, { readonly kind: 'pool' }>;

/** The pods of an InferencePool, one backend for each of its ports. What the pool says may change at any time. */
export class PoolSource implements Discoverer {
  readonly #settings: ApiSettings;
  readonly #name: string;

  constructor(settings: ApiSettings, name: string) {
    this.#settings = settings;
    this.#name = name;
  }

  async run(observer: DiscoveryObserver, signal: AbortSignal): Promise<void> {
    await new PoolRun(this.#settings, this.#name, observer, signal).run();
  }
}

class PoolRun {
  readonly #settings: ApiSettings;
  readonly #name: string;
  readonly #signal: AbortSignal;
  readonly #parts: Parts;
  /** The last that could be used. A pool that is gone does not let go of its pods. */
  #pool: Pool | undefined;
  /** Why there is none that can be used. */
  #complaint: string | undefined;
  #pods: ReadonlyMap<string, KeptPod> | undefined;
  #stopPods = new AbortController();
  #podsRun = Promise.resolve();

  constructor(settings: ApiSettings, name: string, observer: DiscoveryObserver, signal: AbortSignal) {
    this.#settings = settings;
    this.#name = name;
    this.#signal = signal;
    this.#parts = new Parts(observer, () => this.#sum());
  }

  async run(): Promise<void> {
    const { namespace } = this.#settings;
    const reflector = new Reflector({
      ...this.#settings,
      wanted: {
        resource: {
          group: 'inference.networking.k8s.io',
          version: 'v1',
          plural: 'inferencepools',
          namespace,
        },
        selector: { fieldSelector: `metadata.name=${this.#name}` },
        pageSize: 1,
        keep: keepPool,
        weigh: () => 1,
      },
      observer: this.#parts.part('pool', (pools: ReadonlyMap<string, KeptPool>) => {
        this.#take(pools.get(this.#name));
      }),
    });
    await reflector.run(this.#signal);
    this.#stopPods.abort();
    await this.#podsRun;
  }

  #take(pool: KeptPool | undefined): void {
    const { namespace } = this.#settings;
    if (pool?.kind !== 'pool') {
      const name = `InferencePool ${this.#name}`;
      this.#complaint =
        pool === undefined ? `there is no ${name} in namespace ${namespace}` : `${name} ${pool.reason}`;
      return;
    }
    this.#complaint = undefined;
    const isNew = pool.labelSelector !== this.#pool?.labelSelector;
    this.#pool = pool;
    if (isNew) this.#follow(pool.labelSelector);
  }

  /** Until the pods of the new selector are known, those that were told last stand. */
  #follow(labelSelector: string): void {
    this.#stopPods.abort();
    this.#stopPods = new AbortController();
    this.#pods = undefined;
    const { signal } = this.#stopPods;
    const observer = this.#parts.part('pods', (pods: ReadonlyMap<string, KeptPod>) => {
      this.#pods = pods;
    });
    const run = podReflector(this.#settings, labelSelector, observer).run(signal);
    this.#podsRun = Promise.all([this.#podsRun, run]).then(() => undefined);
  }

  #sum(): Sum {
    if (this.#pool === undefined) {
      return this.#complaint === undefined ? undefined : { kind: 'failed', reason: this.#complaint };
    }
    if (this.#pods === undefined) return undefined;
    const { found, leftOut } = foundInPods(this.#pods, this.#pool.ports);
    if (this.#complaint === undefined) return { kind: 'found', found, leftOut };
    return {
      kind: 'found',
      found,
      leftOut: [`${this.#complaint}; what it selected last is followed on`, ...leftOut],
    };
  }
}

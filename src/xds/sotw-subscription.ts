import type { DiscoveryRequest } from './request.ts';
import { existing, SotwNames } from './sotw-names.ts';
import type {
  RememberedNames,
  SentResponse,
  Subscription,
  TypeView,
  Update,
  Versions,
} from './subscription.ts';
import { Unsettled } from './unsettled.ts';

const NO_NAMES: readonly string[] = [];

/**
 * State of the world for types whose responses are partial (endpoints, routes): only what changed is sent, absence
 * means nothing, and a name that does not exist is answered when it appears.
 */
export class SotwSubscription implements Subscription<DiscoveryRequest> {
  readonly #names = new SotwNames(false);
  readonly #unsettled = new Unsettled();
  readonly #has = new Map<string, string>();
  readonly #rejected = new Map<string, string>();
  #left = NO_NAMES;
  /** Nothing of this view is left to send. */
  #done: TypeView | undefined;

  get lastNonce(): number {
    return this.#unsettled.lastNonce;
  }

  get waiting(): boolean {
    return this.#unsettled.any;
  }

  get remembered(): readonly RememberedNames[] {
    return this.#names.remembered;
  }

  get left(): readonly string[] {
    return this.#left;
  }

  giveUp(): void {
    this.#unsettled.giveUp();
  }

  receive(request: DiscoveryRequest): Versions | undefined {
    const settled = this.#unsettled.settle(request.nonce);
    if (settled !== undefined && request.error !== undefined) this.#reject(settled);
    else if (settled !== undefined && this.#rejected.size > 0) this.#forgive(settled);
    this.#left = this.#names.replace(request.names) ? this.#forgetOthers() : NO_NAMES;
    return settled;
  }

  includes(name: string): boolean {
    return this.#names.includes(name);
  }

  renew(names: readonly string[]): void {
    this.#names.renew(names);
  }

  next(view: TypeView): Update | undefined {
    const { asked, askedForAll } = this.#names;
    const waiting = this.#unsettled.any;
    if (asked.size === 0 && !askedForAll && (waiting || view === this.#done)) return undefined;
    const candidates = waiting && !askedForAll ? existing(asked, view) : this.#names.of(view);
    const resources = candidates.filter(({ name, version }) => {
      const due = askedForAll || asked.has(name);
      return due || (!waiting && this.#has.get(name) !== version && this.#rejected.get(name) !== version);
    });
    if (!waiting) this.#done = view;
    this.#startAnew(view);
    this.#names.answered(view.held);
    if (resources.length === 0) return undefined;
    const changed = resources.filter(({ name, version }) => this.#has.get(name) !== version);
    return { resources, removed: [], changed: changed.map(({ name }) => name) };
  }

  sent(response: SentResponse): void {
    this.#unsettled.add(response);
    for (const [name, version] of response.versions) this.#has.set(name, version);
  }

  #reject(versions: Versions): void {
    for (const [name, version] of versions) {
      if (this.includes(name)) this.#rejected.set(name, version);
    }
  }

  #forgive(versions: Versions): void {
    for (const [name, version] of versions) {
      if (this.#rejected.get(name) !== version) continue;
      this.#rejected.delete(name);
      this.#done = undefined;
    }
  }

  /**
   * The client waits for what it asks for whatever it had and rejected: also for what cannot be answered before it
   * appears.
   */
  #startAnew({ resources }: TypeView): void {
    const { asked, askedForAll } = this.#names;
    if (askedForAll) this.#rejected.clear();
    for (const name of askedForAll ? this.#has.keys() : asked) {
      this.#rejected.delete(name);
      if (!resources.has(name)) this.#has.delete(name);
    }
  }

  /** What is not asked for any more is new when it is asked for again. @returns what was sent of it. */
  #forgetOthers(): readonly string[] {
    const left = [...this.#has.keys()].filter((name) => !this.includes(name));
    for (const name of left) this.#has.delete(name);
    for (const name of this.#rejected.keys()) if (!this.includes(name)) this.#rejected.delete(name);
    return left;
  }
}

import type { Resource } from '../publish/snapshot-store.ts';
import type { DiscoveryRequest } from './request.ts';
import { SotwNames } from './sotw-names.ts';
import type {
  RememberedNames,
  SentResponse,
  Subscription,
  TypeView,
  Update,
  Versions,
} from './subscription.ts';
import { Unsettled } from './unsettled.ts';

const NOTHING: Versions = new Map();

/**
 * State of the world for types whose responses are complete sets (clusters, listeners): any change sends all that is
 * asked for, and what is absent is deleted by the client. A set is rejected and withheld as a whole.
 */
export class SotwSetSubscription implements Subscription<DiscoveryRequest> {
  readonly #names = new SotwNames(true);
  readonly #unsettled = new Unsettled();
  #has = NOTHING;
  #rejected: Versions | undefined;
  /** This view is the client's, or was rejected. */
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

  giveUp(): void {
    this.#unsettled.giveUp();
  }

  receive(request: DiscoveryRequest): Versions | undefined {
    const settled = this.#unsettled.settle(request.nonce);
    if (settled !== undefined) {
      if (request.error !== undefined) this.#rejected = settled;
      else if (this.#rejected !== undefined && equal(this.#rejected, settled)) this.#rejected = undefined;
    }
    this.#names.replace(request.names);
    return settled;
  }

  renew(names: readonly string[]): void {
    this.#names.renew(names);
  }

  next(view: TypeView): Update | undefined {
    const asked = this.#names.askedForAll || [...this.#names.asked].some((name) => view.resources.has(name));
    this.#names.answered();
    if (!asked && (this.#unsettled.any || view === this.#done)) return undefined;
    const resources = this.#names.of(view);
    const changed = resources.filter(({ name, version }) => this.#has.get(name) !== version);
    this.#done = view;
    if (!asked) {
      if (changed.length === 0 && !this.#misses(view)) return undefined;
      if (this.#rejected !== undefined && equal(this.#rejected, versionsOf(resources))) return undefined;
    }
    return { resources, removed: [], changed: changed.map(({ name }) => name) };
  }

  sent(response: SentResponse): void {
    this.#unsettled.add(response);
    this.#has = response.versions;
  }

  /** The client has something that is no longer there. */
  #misses(view: TypeView): boolean {
    for (const name of this.#has.keys()) {
      if (this.#names.includes(name) && !view.resources.has(name)) return true;
    }
    return false;
  }
}

function versionsOf(resources: readonly Resource[]): Versions {
  return new Map(resources.map(({ name, version }) => [name, version]));
}

function equal(one: Versions, other: Versions): boolean {
  if (one.size !== other.size) return false;
  for (const [name, version] of one) if (other.get(name) !== version) return false;
  return true;
}

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
  /** The last set that was sent was rejected: the client may have any of those before. */
  #isRejected = false;
  /** The list of names has changed, and the client may have others. */
  #isReplaced = false;
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
    if (settled !== undefined) this.#judge(settled, request.error !== undefined);
    if (this.#names.replace(request.names)) {
      this.#isReplaced = true;
      this.#done = undefined;
    }
    if (this.#isReplaced && !this.#unsettled.some) this.#forgetOthers();
    return settled;
  }

  includes(name: string): boolean {
    return this.#names.includes(name);
  }

  renew(names: readonly string[]): void {
    this.#names.renew(names);
  }

  next(view: TypeView): Update | undefined {
    const asked = this.#names.askedForAll || [...this.#names.asked].some((name) => view.resources.has(name));
    if (!asked && this.#unsettled.any) return undefined;
    if (this.#deletesHeld(view)) return undefined;
    this.#names.answered(view.held);
    if (!asked && view === this.#done) return undefined;
    const resources = this.#names.of(view);
    const changed = resources.filter(({ name, version }) => this.#has.get(name) !== version);
    this.#done = view;
    if (!asked) {
      if (changed.length === 0 && !this.#misses(view) && !this.#isRejected) return undefined;
      if (this.#rejected !== undefined && equal(this.#rejected, versionsOf(resources))) return undefined;
    }
    return { resources, removed: [], changed: changed.map(({ name }) => name) };
  }

  sent(response: SentResponse): void {
    this.#unsettled.add(response);
    this.#has = response.versions;
    this.#isRejected = false;
  }

  #judge(versions: Versions, rejected: boolean): void {
    if (rejected) {
      this.#rejected = versions;
      this.#isRejected = !this.#unsettled.some;
      this.#done = undefined;
    } else if (this.#rejected !== undefined && isOver(this.#rejected, versions)) {
      this.#rejected = undefined;
      this.#done = undefined;
    }
  }

  /** What is not asked for any more is new when it is asked for again, unless it is on its way to the client. */
  #forgetOthers(): void {
    this.#isReplaced = false;
    const has = [...this.#has].filter(([name]) => this.includes(name));
    if (has.length < this.#has.size) this.#has = new Map(has);
  }

  /** The client has something that exists without content: a set cannot tell that from something that is gone. */
  #deletesHeld({ held }: TypeView): boolean {
    for (const name of held) if (this.#has.has(name) && this.includes(name)) return true;
    return false;
  }

  /** The client has something that is no longer there. */
  #misses(view: TypeView): boolean {
    for (const name of this.#has.keys()) {
      if (this.includes(name) && !view.resources.has(name)) return true;
    }
    return false;
  }
}

function versionsOf(resources: readonly Resource[]): Versions {
  return new Map(resources.map(({ name, version }) => [name, version]));
}

/** The set was taken after all, or one without something of it, which ends that in the client. */
function isOver(rejected: Versions, taken: Versions): boolean {
  return equal(rejected, taken) || [...rejected.keys()].some((name) => !taken.has(name));
}

function equal(one: Versions, other: Versions): boolean {
  if (one.size !== other.size) return false;
  for (const [name, version] of one) if (other.get(name) !== version) return false;
  return true;
}

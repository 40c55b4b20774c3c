import type { Resource } from '../publish/snapshot-store.ts';
import type { DeltaDiscoveryRequest } from './request.ts';
import {
  EVERY_NAME,
  type RememberedNames,
  type SentResponse,
  type Subscription,
  type TypeView,
  type Update,
  type Versions,
} from './subscription.ts';
import { Unsettled } from './unsettled.ts';

/** In place of a version: the client was told that the name does not exist. */
const ABSENT = '';
const NOTHING: Versions = new Map();
const NO_NAMES: readonly string[] = [];

/**
 * The incremental variant: subscriptions add up over a stream's requests and hold whatever the nonce, only what
 * changed is sent, once, and a name that does not exist is told as removed and sent when it appears.
 */
export class DeltaSubscription implements Subscription<DeltaDiscoveryRequest> {
  readonly #emptyMeansAll: boolean;
  readonly #trustsClient: boolean;
  readonly #keptMax: number;
  /** What the client has of an earlier stream, until {@link letGo}. */
  readonly #kept = new Set<string>();
  readonly #names = new Set<string>();
  readonly #unsettled = new Unsettled();
  readonly #has = new Map<string, string>();
  readonly #rejected = new Map<string, string>();
  readonly #asked = new Set<string>();
  #wildcard = false;
  #askedForAll = false;
  #left = NO_NAMES;
  #first = true;
  /** The first request has not been answered. */
  #owesAnswer = false;
  /** What the first answer left out, as the client has it of an earlier stream, until an answer is settled. */
  #spared: Versions = NOTHING;
  /** Nothing of this view is left to send. */
  #done: TypeView | undefined;

  /**
   * @param emptyMeansAll a first request without names asks for everything.
   * @param trustsClient what the client says to have from an earlier stream is not sent again.
   * @param keptMax how many names of it that are not here are left to it, and whether what has another content and is of no
   * complete set; 0: nothing.
   */
  constructor(emptyMeansAll: boolean, trustsClient: boolean, keptMax = 0) {
    this.#keptMax = keptMax;
    this.#emptyMeansAll = emptyMeansAll;
    this.#trustsClient = trustsClient;
  }

  get lastNonce(): number {
    return this.#unsettled.lastNonce;
  }

  get waiting(): boolean {
    return this.#unsettled.any;
  }

  get remembered(): readonly RememberedNames[] {
    // what it says to have and is not here is bounded from the first answer on
    return [this.#names];
  }

  get left(): readonly string[] {
    return this.#left;
  }

  letGo(view: TypeView, endpoints: TypeView): boolean {
    const hadNone = this.#kept.size === 0;
    for (const name of this.#kept) {
      const group = view.resources.get(name)?.serverGroup ?? '';
      if (!endpoints.held.has(group) || endpoints.resources.has(group)) this.#kept.delete(name);
      this.#done = undefined;
    }
    return hadNone;
  }

  giveUp(): void {
    this.#unsettled.giveUp();
  }

  receive(request: DeltaDiscoveryRequest): Versions | undefined {
    const settled = this.#settle(request);
    const { unsubscribe } = request;
    const known = unsubscribe.includes(EVERY_NAME) ? [...unsubscribe, ...this.#has.keys()] : unsubscribe;
    const asked = known.filter((name) => isName(name) && this.includes(name));
    // what it leaves it may throw away
    if (unsubscribe.length > 0) this.#spared = NOTHING;
    for (const name of unsubscribe) this.#unsubscribe(name);
    if (this.#first) this.#begin(request);
    else for (const name of request.subscribe) this.#subscribe(name);
    this.#left = asked.length === 0 ? NO_NAMES : asked.filter((name) => !this.includes(name));
    return settled;
  }

  includes(name: string): boolean {
    return this.#wildcard || this.#names.has(name);
  }

  renew(names: readonly string[]): void {
    for (const name of names) if (this.includes(name)) this.#asked.add(name);
  }

  next(view: TypeView): Update | undefined {
    const waiting = this.#unsettled.any;
    const asked = this.#asked.size > 0 || this.#askedForAll || this.#owesAnswer;
    if (!asked && (waiting || view === this.#done)) return undefined;
    if (this.#owesAnswer) this.#boundKept(view);
    const resources: Resource[] = [];
    const removed: string[] = [];
    for (const name of waiting && !this.#askedForAll ? this.#asked : this.#candidates(view)) {
      const resource = view.resources.get(name);
      const due = this.#askedForAll || this.#asked.has(name);
      const stays = this.#kept.has(name) && (resource === undefined || !this.#emptyMeansAll);
      if (stays && !due) continue;
      if (resource !== undefined) {
        if (due || (!waiting && this.#isNews(resource))) resources.push(resource);
      } else if (!view.held.has(name) && (due || (!waiting && this.#has.get(name) !== ABSENT))) {
        removed.push(name);
      }
    }
    const empty = resources.length === 0 && removed.length === 0;
    const owes = this.#owesAnswer && this.#canAnswer(view);
    if (!waiting) this.#done = view;
    this.#answered(view);
    // a first request for nothing but held names is answered when one of them has content, even if the client has it
    if (empty && !owes) return undefined;
    if (this.#owesAnswer) this.#spared = this.#currentOf(view);
    this.#owesAnswer = false;
    const changed = resources.filter(({ name, version }) => this.#has.get(name) !== version);
    return { resources, removed, changed: changed.map(({ name }) => name) };
  }

  sent(response: SentResponse): void {
    this.#unsettled.add(response);
    for (const [name, version] of response.versions) this.#has.set(name, version);
    for (const name of response.removed) {
      this.#rejected.delete(name);
      if (this.#names.has(name)) this.#has.set(name, ABSENT);
      else this.#has.delete(name);
    }
  }

  /** The rest is told as removed: to refuse it would turn the client away for ever, as it comes back with the same. */
  #boundKept({ resources, held }: TypeView): void {
    let more = this.#keptMax;
    for (const name of this.#kept) {
      if (resources.has(name) || held.has(name)) continue;
      if (more > 0) more--;
      else this.#kept.delete(name);
    }
  }

  /** What is held is still owed: it may come with the version that the client has, and be waited for regardless. */
  #answered({ held }: TypeView): void {
    if (this.#askedForAll) {
      this.#rejected.clear();
      for (const name of held) this.#asked.add(name);
    }
    this.#askedForAll = false;
    for (const name of this.#asked) {
      this.#rejected.delete(name);
      if (!held.has(name)) this.#asked.delete(name);
    }
  }

  /** An answer without content: to a client that has all it asked for, or asked for everything and there is nothing. */
  #canAnswer(view: TypeView): boolean {
    return this.#wildcard || [...this.#names].some((name) => !view.held.has(name));
  }

  /** What the client has in the version of this view. */
  #currentOf({ resources }: TypeView): Versions {
    return new Map([...this.#has].filter(([name, version]) => resources.get(name)?.version === version));
  }

  /** Every name that may need to be told of. */
  #candidates(view: TypeView): Iterable<string> {
    if (!this.#wildcard) return this.#names;
    return new Set([...view.resources.keys(), ...this.#has.keys(), ...this.#names, ...this.#asked]);
  }

  #isNews({ name, version }: Resource): boolean {
    return this.#has.get(name) !== version && this.#rejected.get(name) !== version;
  }

  /** Whoever takes the first answer says with it that it has what was left out. */
  #settle({ nonce, error }: DeltaDiscoveryRequest): Versions | undefined {
    const settled = this.#unsettled.settle(nonce);
    if (settled === undefined) return undefined;
    this.#judge(settled, error !== undefined);
    const spared = [...this.#spared].filter(([name, version]) => this.#has.get(name) === version);
    this.#spared = NOTHING;
    return error === undefined && spared.length > 0 ? new Map([...spared, ...settled]) : settled;
  }

  #judge(versions: Versions, rejected: boolean): void {
    for (const [name, version] of versions) {
      if (rejected) {
        if (this.includes(name) && !this.#isRemoved(name)) this.#rejected.set(name, version);
      } else if (this.#rejected.get(name) === version) {
        this.#rejected.delete(name);
        this.#done = undefined;
      }
    }
  }

  /** What is sent of it after that is new to the client, whatever it refused before. */
  #isRemoved(name: string): boolean {
    return (this.#has.get(name) ?? ABSENT) === ABSENT;
  }

  #begin(request: DeltaDiscoveryRequest): void {
    this.#first = false;
    this.#owesAnswer = true;
    this.#wildcard =
      (this.#emptyMeansAll && request.subscribe.length === 0) || request.subscribe.includes(EVERY_NAME);
    for (const name of request.subscribe) if (isName(name)) this.#names.add(name);
    for (const name of this.#names) this.#asked.add(name);
    for (const [name, version] of request.initialVersions) {
      // of everything, what is gone must be told to the client whatever it is trusted with
      if (!this.#trustsClient) this.renew([name]);
      else if (this.#asked.delete(name) || this.#wildcard) {
        this.#has.set(name, version);
        if (this.#keptMax > 0) this.#kept.add(name);
      }
    }
  }

  #subscribe(name: string): void {
    if (name === EVERY_NAME) {
      this.#wildcard = true;
      this.#askedForAll = true;
      // what is on its way may arrive after the client has left and taken everything: if it is gone, that is to be told
      for (const [sent, version] of this.#unsettled.versions()) {
        if (!this.#has.has(sent)) this.#has.set(sent, version);
      }
    } else if (isName(name)) {
      this.#names.add(name);
      this.#asked.add(name);
    }
  }

  /** While everything is asked for, leaving a name must be answered: the client cannot know whether it still exists. */
  #unsubscribe(name: string): void {
    if (name === EVERY_NAME) {
      this.#wildcard = false;
      this.#askedForAll = false;
      for (const names of [this.#has, this.#rejected, this.#asked, this.#kept]) {
        for (const known of names.keys()) if (!this.#names.has(known)) names.delete(known);
      }
    } else if (this.#names.delete(name)) {
      if (this.#wildcard) this.#asked.add(name);
      else this.#forget(name);
    }
  }

  #forget(name: string): void {
    this.#has.delete(name);
    this.#rejected.delete(name);
    this.#asked.delete(name);
    this.#kept.delete(name);
  }
}

function isName(name: string): boolean {
  return name !== '' && name !== EVERY_NAME;
}

import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import type { Subscription, TypeView, Update } from '../../src/xds/subscription.ts';
import { resource } from './snapshots.ts';

/** What a subscription said to send: `name@version`, in the order of the names. */
export interface Sent {
  readonly nonce: string;
  readonly resources: readonly string[];
  readonly removed: readonly string[];
}

/** A view of endpoint resources by name and version. */
export function viewOf(versions: Readonly<Record<string, string>>, held: readonly string[] = []): TypeView {
  const resources = Object.entries(versions).map(([name, version]) => resource('endpoint', name, version));
  return { resources: new Map(resources.map((each) => [each.name, each])), held: new Set(held) };
}

/** Plays stream and client of one subscription, without a network. */
export class SubscriptionDriver<R> {
  readonly subscription: Subscription<R>;
  readonly #request: (fields: Partial<R>) => R;
  #nonce = 0;

  constructor(subscription: Subscription<R>, defaults: R) {
    this.subscription = subscription;
    this.#request = (fields) => ({ ...defaults, ...fields });
  }

  /** @returns `name@version` of what the request settled; undefined: nothing. */
  receive(fields: Partial<R>): readonly string[] | undefined {
    const settled = this.subscription.receive(this.#request(fields));
    return settled && [...settled].map(([name, version]) => `${name}@${version}`).toSorted();
  }

  /** Sends what is due. */
  next(view: TypeView): Sent | undefined {
    const update = this.subscription.next(view);
    return update && this.#send(update);
  }

  #send(update: Update): Sent {
    const nonce = ++this.#nonce;
    const versions = new Map(update.resources.map(({ name, version }) => [name, version]));
    this.subscription.sent({ nonce, versions, removed: update.removed });
    return {
      nonce: String(nonce),
      resources: update.resources.map(({ name, version }) => `${name}@${version}`).toSorted(),
      removed: update.removed.toSorted(),
    };
  }
}

export const NO_REQUEST = {
  typeUrl: TYPE_URLS.endpoint,
  nonce: '',
  error: undefined,
  node: undefined,
  nodeId: undefined,
};

export const REJECTION = { code: 13, message: 'no' };

import { DeltaSubscription } from './delta-subscription.ts';
import {
  type DeltaDiscoveryRequest,
  type DiscoveryRequest,
  type ReadResult,
  type Request,
  readDeltaDiscoveryRequest,
  readDiscoveryRequest,
} from './request.ts';
import type { VariantName } from './response-cache.ts';
import type { ServedType } from './served-types.ts';
import { SotwSetSubscription } from './sotw-set-subscription.ts';
import { SotwSubscription } from './sotw-subscription.ts';
import type { RememberedNames, Subscription } from './subscription.ts';

/** One of the two ways in which a stream may speak: https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#variants-of-the-xds-transport-protocol */
export interface Variant<R extends Request> {
  readonly name: VariantName;
  read(bytes: Buffer, withNode: boolean): ReadResult<R>;
  /** The names that the request asks for. */
  names(request: R): RememberedNames;
  /** How many names it lists. */
  count(request: R): number;
  /** The names that the request asks for, or asks for again. */
  asked(request: R): readonly string[];
  /** The length, in characters, of the longest name or version that the request has. */
  longestText(request: R): number;
  /**
   * @param trustsClient what the client says to have from an earlier stream is not sent again.
   * @param keptMax where the type leaves a client what it has and is not here, how many names of it
   */
  subscribe(type: ServedType, trustsClient: boolean, keptMax: number): Subscription<R>;
}

export const SOTW: Variant<DiscoveryRequest> = {
  name: 'sotw',
  read: readDiscoveryRequest,
  names: ({ names }) => listed(names),
  count: ({ names }) => names.length,
  asked: ({ names }) => names,
  longestText: ({ names }) => longest(names),
  subscribe: (type) => (type.complete ? new SotwSetSubscription() : new SotwSubscription()),
};

export const DELTA: Variant<DeltaDiscoveryRequest> = {
  name: 'delta',
  read: readDeltaDiscoveryRequest,
  names: ({ subscribe }) => listed(subscribe),
  count: ({ subscribe }) => subscribe.length,
  asked: ({ subscribe }) => subscribe,
  longestText: ({ subscribe, unsubscribe, initialVersions }) =>
    Math.max(
      longest(subscribe),
      longest(unsubscribe),
      longest(initialVersions.keys()),
      longest(initialVersions.values()),
    ),
  subscribe: (type, trustsClient, keptMax) =>
    new DeltaSubscription(type.complete, trustsClient, type.keepMs === undefined ? 0 : keptMax),
};

function listed(names: readonly string[]): RememberedNames {
  return { size: names.length, keys: () => names };
}

function longest(texts: Iterable<string>): number {
  let length = 0;
  for (const text of texts) length = Math.max(length, text.length);
  return length;
}

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
import type { Subscription } from './subscription.ts';

/** One of the two ways in which a stream may speak: https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#variants-of-the-xds-transport-protocol */
export interface Variant<R extends Request> {
  readonly name: VariantName;
  read(bytes: Buffer, withNode: boolean): ReadResult<R>;
  /** The names that a request asks for, or asks for again. */
  namesOf(request: R): readonly string[];
  /** @param trustsClient what the client says to have from an earlier stream is not sent again. */
  subscribe(type: ServedType, trustsClient: boolean): Subscription<R>;
}

export const SOTW: Variant<DiscoveryRequest> = {
  name: 'sotw',
  read: readDiscoveryRequest,
  namesOf: (request) => request.names,
  subscribe: (type) => (type.complete ? new SotwSetSubscription() : new SotwSubscription()),
};

export const DELTA: Variant<DeltaDiscoveryRequest> = {
  name: 'delta',
  read: readDeltaDiscoveryRequest,
  namesOf: (request) => request.subscribe,
  subscribe: (type, trustsClient) => new DeltaSubscription(type.complete, trustsClient),
};

import type { Resource } from '../publish/snapshot-store.ts';
import { lengthDelimited, type Pieces } from './wire.ts';

export interface ResponseContent {
  readonly version: string;
  readonly typeUrl: string;
  readonly nonce: string;
  readonly resources: readonly Resource[];
}

/** `envoy.service.discovery.v3.DiscoveryResponse` */
export function encodeDiscoveryResponse(content: ResponseContent): Buffer {
  return Buffer.concat([
    ...lengthDelimited(1, content.version),
    ...content.resources.flatMap((resource) => lengthDelimited(2, any(resource))),
    ...lengthDelimited(4, content.typeUrl),
    ...lengthDelimited(5, content.nonce),
  ]);
}

/** `envoy.service.discovery.v3.DeltaDiscoveryResponse` */
export function encodeDeltaDiscoveryResponse(
  content: ResponseContent & { readonly removed: readonly string[] },
): Buffer {
  return Buffer.concat([
    ...lengthDelimited(1, content.version),
    ...content.resources.flatMap((resource) => lengthDelimited(2, deltaResource(resource))),
    ...lengthDelimited(4, content.typeUrl),
    ...lengthDelimited(5, content.nonce),
    ...content.removed.flatMap((name) => lengthDelimited(6, name)),
  ]);
}

/** `envoy.service.discovery.v3.Resource` */
function deltaResource(resource: Resource): Pieces {
  return [
    ...lengthDelimited(1, resource.version),
    ...lengthDelimited(2, any(resource)),
    ...lengthDelimited(3, resource.name),
  ];
}

/** `google.protobuf.Any` */
function any(resource: Resource): Pieces {
  return [...lengthDelimited(1, resource.typeUrl), ...lengthDelimited(2, [resource.bytes])];
}

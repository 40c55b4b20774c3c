import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import type { StreamKind } from './observer.ts';
import type { VariantName } from './response-cache.ts';
import { ENDPOINT_TYPE, SERVED_TYPES, type ServedType } from './served-types.ts';

/** A gRPC service and the types that its streams may ask for, in the order in which a change goes out. */
export interface XdsService {
  readonly kind: StreamKind;
  readonly name: string;
  readonly methods: Readonly<Record<VariantName, string>>;
  readonly types: readonly ServedType[];
}

export const XDS_SERVICES: readonly XdsService[] = [
  {
    kind: 'ads',
    name: 'envoy.service.discovery.v3.AggregatedDiscoveryService',
    methods: { sotw: 'StreamAggregatedResources', delta: 'DeltaAggregatedResources' },
    types: SERVED_TYPES,
  },
  {
    kind: 'eds',
    name: 'envoy.service.endpoint.v3.EndpointDiscoveryService',
    methods: { sotw: 'StreamEndpoints', delta: 'DeltaEndpoints' },
    types: [ENDPOINT_TYPE],
  },
];

/** Messages pass as bytes in both directions: a response is encoded once for all streams. */
export function definitionOf(service: XdsService): ServiceDefinition {
  return {
    sotw: bytesMethod(`/${service.name}/${service.methods.sotw}`),
    delta: bytesMethod(`/${service.name}/${service.methods.delta}`),
  };
}

function bytesMethod(path: string): MethodDefinition<Buffer, Buffer> {
  const same = (bytes: Buffer): Buffer => bytes;
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

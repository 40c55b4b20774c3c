import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import type { VariantName } from './response-cache.ts';
import type { ServedType } from './served-types.ts';

/** A gRPC service and the types that its streams may ask for, in the order in which a change goes out. */
export interface XdsService {
  /** Short and one of a bounded set: it becomes a metric label. */
  readonly kind: string;
  readonly name: string;
  readonly methods: Readonly<Record<VariantName, string>>;
  /** A single one: a stream of this type alone. */
  readonly types: readonly ServedType[];
}

/** Messages pass as bytes in both directions: a response is encoded once for all streams. */
export function definitionOf(service: XdsService): ServiceDefinition {
  return {
    sotw: bytesMethod(`/${service.name}/${service.methods.sotw}`),
    delta: bytesMethod(`/${service.name}/${service.methods.delta}`),
  };
}

/** A method with streams in both directions. */
export function bytesMethod(path: string): MethodDefinition<Buffer, Buffer> {
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

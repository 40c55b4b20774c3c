import type protobuf from 'protobufjs';
import { readProtos } from '../../protos/sources.ts';

const root = readProtos(['envoy/service/discovery/v3/discovery.proto']);

const PACKAGE = 'envoy.service.discovery.v3';

/** Envoy's discovery messages as protobufjs reads them from the sources: independent of the code under test. */
export const DISCOVERY = {
  DiscoveryRequest: root.lookupType(`${PACKAGE}.DiscoveryRequest`),
  DiscoveryResponse: root.lookupType(`${PACKAGE}.DiscoveryResponse`),
  DeltaDiscoveryRequest: root.lookupType(`${PACKAGE}.DeltaDiscoveryRequest`),
  DeltaDiscoveryResponse: root.lookupType(`${PACKAGE}.DeltaDiscoveryResponse`),
} as const;

/** Encodes plain fields, in camel case. */
export function encode(type: protobuf.Type, fields: object): Buffer {
  return Buffer.from(type.encode(type.fromObject({ ...fields })).finish());
}

import type protobuf from 'protobufjs';
import protojson from 'protobufjs/ext/protojson.js';
import { FILES } from '../../protos/messages.ts';
import { readProtos } from '../../protos/sources.ts';

const root = readProtos([...FILES, 'envoy/service/discovery/v3/discovery.proto']);

/** A message with all its fields, unlike in the bundle; by its full name or a type URL. */
export function fullType(name: string): protobuf.Type {
  return root.lookupType(name.slice(name.lastIndexOf('/') + 1));
}

/** A message as an Envoy reads it, in the JSON form of protobuf. */
export function decodeFully(typeUrl: string, bytes: Uint8Array): unknown {
  const type = fullType(typeUrl);
  return protojson.toJson(type, type.decode(bytes));
}

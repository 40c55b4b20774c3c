import protojson from 'protobufjs/ext/protojson.js';
import { messageType } from '../protos.ts';

/**
 * A message in the JSON form of protobuf with the fields' own names: durations as `4s`, wrapped numbers bare, an `Any`
 * as its message with `@type`. The same value is encoded for the wire and printed into an Envoy bootstrap.
 */
export type ProtoJson =
  | null
  | boolean
  | number
  | string
  | readonly ProtoJson[]
  | { readonly [key: string]: ProtoJson };

/** A message, not a scalar. */
export type ProtoJsonMessage = { readonly [key: string]: ProtoJson };

/**
 * Encodes a message given as JSON. Equal values give equal bytes; an empty message is written, not dropped.
 * @throws when the value does not fit the message, or uses a field that the bundle does not have.
 */
export function encodeProtoJson(typeUrl: string, json: ProtoJsonMessage): Uint8Array {
  const type = messageType(typeUrl.slice(typeUrl.lastIndexOf('/') + 1));
  return type.encode(protojson.fromJson(type, json)).finish();
}

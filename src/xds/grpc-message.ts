/** gRPC's prefix of a message: a flag, 0 as it is not compressed, and its length in four bytes. */
export const PREFIX_BYTES = 5;

/** A message as it goes over the wire, in one piece. */
export function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.byteLength, 1);
  return Buffer.concat([prefix, message]);
}

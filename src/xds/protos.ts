import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs/light.js';
import { PlimsollError } from '../runtime/errors.ts';

/** Made by protos/bundle.ts; the same way up from src/xds and from dist/xds. */
const BUNDLE = new URL('../../protos/generated/envoy.json', import.meta.url);

let root: protobuf.Root | undefined;

/**
 * A message of the bundle by its full name, such as `envoy.config.cluster.v3.Cluster`. Fields have camel case names;
 * there are those that protos/messages.ts lists.
 * @throws PlimsollError `io` when the bundle cannot be read, `internal` when it does not hold the message.
 */
export function messageType(name: string): protobuf.Type {
  root ??= readBundle(BUNDLE);
  try {
    return root.lookupType(name);
  } catch (error) {
    throw new PlimsollError('internal', `${name} is not in the bundle: name it in protos/messages.ts`, {
      cause: error,
    });
  }
}

/** @throws PlimsollError `io`: the file is not there or no descriptor. */
export function readBundle(file: URL): protobuf.Root {
  try {
    return protobuf.Root.fromJSON(JSON.parse(readFileSync(file, 'utf8')) as protobuf.INamespace);
  } catch (error) {
    throw new PlimsollError(
      'io',
      `${fileURLToPath(file)}: no bundle of Envoy's messages there: run npm run build`,
      { cause: error },
    );
  }
}

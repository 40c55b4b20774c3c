import { decodeFully } from './full-protos.ts';
import { assertGolden } from './golden.ts';

/** Asserts a resource's bytes, and beside them, for people, what an Envoy reads in them. */
export function assertGoldenResource(name: string, typeUrl: string, bytes: Uint8Array): void {
  const golden = {
    typeUrl,
    message: decodeFully(typeUrl, bytes),
    bytes: Buffer.from(bytes).toString('hex'),
  };
  assertGolden(`xds/${name}.json`, `${JSON.stringify(golden, null, 2)}\n`);
}

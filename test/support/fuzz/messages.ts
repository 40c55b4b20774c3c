import fc from 'fast-check';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { DISCOVERY, encode } from '../discovery-proto.ts';

export type Variant = 'sotw' | 'delta';

/** Which response a request claims to answer. */
export type Nonce = 'none' | 'newest' | 'oldest' | 'invented' | 'garbage';

/** One valid request, in an order that no client would choose. */
export interface Ask {
  readonly typeUrl: string;
  readonly names: readonly string[];
  readonly left: readonly string[];
  readonly had: Readonly<Record<string, string>>;
  readonly nonce: Nonce;
  readonly rejects: string | undefined;
  readonly node: string | undefined;
}

const typeUrl = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...Object.values(TYPE_URLS)) },
  { weight: 1, arbitrary: fc.constantFrom('', 'type.googleapis.com/secret', '*') },
  { weight: 1, arbitrary: fc.string() },
);

const name = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom('a', 'b', 'c', '*', '') },
  { weight: 8, arbitrary: fc.string({ unit: 'grapheme' }) },
  { weight: 1, arbitrary: fc.nat({ max: 600 }).map((length) => 'x'.repeat(length)) },
);

const names = fc.oneof(
  { weight: 60, arbitrary: fc.array(name, { maxLength: 5 }) },
  {
    weight: 1,
    arbitrary: fc.nat({ max: 3000 }).map((count) => Array.from({ length: count }, (_, i) => `n${i}`)),
  },
);

export const ask: fc.Arbitrary<Ask> = fc.record({
  typeUrl,
  names,
  left: names,
  had: fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(name, fc.constantFrom('', '1', '2', '3')) },
  ),
  nonce: fc.constantFrom('none', 'newest', 'newest', 'oldest', 'invented', 'garbage'),
  rejects: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 3000 }) },
  ),
  node: fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(undefined, 'sidecar') },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 600 }) },
  ),
});

/** @param nonce as the stream has it for `ask.nonce`. */
export function encodeAsk(variant: Variant, of: Ask, nonce: string): Buffer {
  const shared = {
    typeUrl: of.typeUrl,
    responseNonce: nonce,
    ...(of.node === undefined ? {} : { node: { id: of.node, cluster: of.node } }),
    ...(of.rejects === undefined ? {} : { errorDetail: { code: 3, message: of.rejects } }),
  };
  return variant === 'sotw'
    ? encode(DISCOVERY.DiscoveryRequest, { ...shared, resourceNames: of.names })
    : encode(DISCOVERY.DeltaDiscoveryRequest, {
        ...shared,
        resourceNamesSubscribe: of.names,
        resourceNamesUnsubscribe: of.left,
        initialResourceVersions: of.had,
      });
}

/** Bytes of a request with a few of them changed, taken out or put in. */
export const mutated: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.constantFrom('sotw' as const, 'delta' as const),
    ask,
    fc.array(
      fc.record({
        how: fc.constantFrom('change', 'remove', 'insert', 'cut'),
        where: fc.double({ min: 0, max: 1, noNaN: true }),
        byte: fc.nat({ max: 255 }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  )
  .map(([variant, of, mutations]) =>
    mutations.reduce(
      (bytes, { how, where, byte }) => {
        const at = Math.floor(where * bytes.length);
        const rest = bytes.subarray(how === 'insert' ? at : at + 1);
        switch (how) {
          case 'cut':
            return bytes.subarray(0, at);
          case 'remove':
            return Buffer.concat([bytes.subarray(0, at), rest]);
          case 'change':
          case 'insert':
            return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), rest]);
        }
      },
      encodeAsk(variant, of, '1'),
    ),
  );

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ERROR_MESSAGE_BYTES,
  type NodeIdentity,
  readDeltaDiscoveryRequest,
  readDiscoveryRequest,
} from '../../../src/xds/request.ts';
import { DISCOVERY, encode } from '../../support/discovery-proto.ts';

const { DiscoveryRequest, DeltaDiscoveryRequest } = DISCOVERY;
const RUNS = { seed: 21, numRuns: 300 };

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const texts = fc.array(text, { maxLength: 5 });
const error = fc.option(fc.record({ code: fc.integer(), message: text }, { noNullPrototype: true }), {
  nil: undefined,
});
const node = fc.option(
  fc.record({ id: text, cluster: text, userAgent: text, zone: text }, { noNullPrototype: true }),
  { nil: undefined },
);
/** As much of a node as is passed over. */
const NODE_REST = {
  userAgentBuildVersion: { version: { majorNumber: 1, minorNumber: 40 } },
  metadata: { fields: { a: { stringValue: 'b' }, n: { numberValue: 1.5 } } },
  extensions: Array.from({ length: 50 }, (_, i) => ({ name: `extension-${i}`, category: 'x'.repeat(50) })),
  clientFeatures: ['f'],
};

function nodeOf({ userAgent, zone, ...rest }: NodeIdentity): object {
  const locality = { region: 'r', zone, subZone: 's' };
  return { ...rest, userAgentName: userAgent, locality, ...NODE_REST };
}

test('a request is read as protobufjs wrote it', () => {
  fc.assert(
    fc.property(text, text, error, node, texts, (typeUrl, nonce, detail, identity, names) => {
      const bytes = encode(DiscoveryRequest, {
        versionInfo: 'v',
        typeUrl,
        responseNonce: nonce,
        errorDetail: detail && { ...detail, details: [{ typeUrl: 't', value: Buffer.from('d') }] },
        node: identity && nodeOf(identity),
        resourceNames: names,
        resourceLocators: [{ name: 'passed over' }],
      });
      assert.deepEqual(readDiscoveryRequest(bytes, true), {
        kind: 'request',
        request: { typeUrl, nonce, error: detail, node: identity, nodeId: identity?.id, names },
      });
    }),
    RUNS,
  );
});

test('a delta request is read as protobufjs wrote it', () => {
  const versions = fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true });
  fc.assert(
    fc.property(
      text,
      text,
      error,
      node,
      texts,
      texts,
      versions,
      (typeUrl, nonce, detail, identity, subscribe, unsubscribe, initial) => {
        const bytes = encode(DeltaDiscoveryRequest, {
          typeUrl,
          responseNonce: nonce,
          errorDetail: detail,
          node: identity && nodeOf(identity),
          resourceNamesSubscribe: subscribe,
          resourceNamesUnsubscribe: unsubscribe,
          initialResourceVersions: initial,
          resourceLocatorsSubscribe: [{ name: 'passed over' }],
        });
        assert.deepEqual(readDeltaDiscoveryRequest(bytes, true), {
          kind: 'request',
          request: {
            typeUrl,
            nonce,
            error: detail,
            node: identity,
            nodeId: identity?.id,
            subscribe,
            unsubscribe,
            initialVersions: new Map(Object.entries(initial)),
          },
        });
      },
    ),
    RUNS,
  );
});

test('of a node that is not wanted the id is read, and the rest is passed over, even a broken one', () => {
  const broken = Buffer.from([18, 5, 10, 1, 110, 26, 9, 34, 1, 116]);
  assert.equal(readDiscoveryRequest(broken, true).kind, 'malformed');
  const read = readDiscoveryRequest(broken, false);
  assert.ok(read.kind === 'request');
  const { node: unwanted, nodeId, typeUrl } = read.request;
  assert.deepEqual([unwanted, nodeId, typeUrl], [undefined, 'n', 't']);
});

test('a node without an id has an empty one', () => {
  for (const [read, type] of [
    [readDiscoveryRequest, DiscoveryRequest],
    [readDeltaDiscoveryRequest, DeltaDiscoveryRequest],
  ] as const) {
    const result = read(encode(type, { node: { cluster: 'c' }, typeUrl: 't' }), false);
    assert.ok(result.kind === 'request');
    assert.equal(result.request.nodeId, '');
  }
});

test('an empty error is a rejection nevertheless', () => {
  for (const [read, bytes] of [
    [readDiscoveryRequest, [50, 0]],
    [readDeltaDiscoveryRequest, [58, 0]],
  ] as const) {
    const result = read(Buffer.from(bytes), true);
    assert.ok(result.kind === 'request');
    assert.deepEqual(result.request.error, { code: 0, message: '' });
  }
});

test('a long error message is cut', () => {
  const bytes = encode(DiscoveryRequest, { errorDetail: { code: 13, message: 'x'.repeat(100_000) } });
  const read = readDiscoveryRequest(bytes, true);
  assert.ok(read.kind === 'request');
  assert.equal(read.request.error?.message.length, ERROR_MESSAGE_BYTES);
});

test('a message that is cut anywhere is malformed or lacks a field, and never throws', () => {
  const bytes = encode(DeltaDiscoveryRequest, {
    node: { id: 'n' },
    typeUrl: 'type',
    resourceNamesSubscribe: ['a', 'b'],
    initialResourceVersions: { a: '1' },
    responseNonce: '7',
    errorDetail: { code: 3, message: 'no' },
  });
  let malformed = 0;
  for (let length = 0; length < bytes.length; length++) {
    const read = readDeltaDiscoveryRequest(bytes.subarray(0, length), true);
    if (read.kind === 'malformed') malformed++;
    else assert.equal(read.request.error, undefined);
  }
  // Six fields: only at the seams between them, and at nothing, is the rest a message.
  assert.equal(malformed, bytes.length - 7);
});

test('no bytes make the readers throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      readDiscoveryRequest(Buffer.from(bytes), true);
      readDeltaDiscoveryRequest(Buffer.from(bytes), true);
    }),
    { seed: 22, numRuns: 2000 },
  );
});

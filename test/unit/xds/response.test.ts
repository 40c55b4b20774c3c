import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeDeltaDiscoveryResponse, encodeDiscoveryResponse } from '../../../src/xds/response.ts';
import { DISCOVERY, encode } from '../../support/discovery-proto.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const resource = fc.record({
  typeUrl: text,
  name: text,
  version: text,
  serverGroup: text,
  bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }),
});
const content = fc.record({
  version: text,
  typeUrl: text,
  nonce: text,
  resources: fc.array(resource, { maxLength: 4 }),
  removed: fc.array(text, { maxLength: 4 }),
});
const RUNS = { seed: 23, numRuns: 300 };

test('a response has the bytes that protobufjs writes', () => {
  fc.assert(
    fc.property(content, ({ version, typeUrl, nonce, resources }) => {
      const expected = encode(DISCOVERY.DiscoveryResponse, {
        versionInfo: version,
        resources: resources.map((each) => ({
          type_url: each.typeUrl,
          value: each.bytes,
        })),
        typeUrl,
        nonce,
      });
      assert.deepEqual(encodeDiscoveryResponse({ version, typeUrl, nonce, resources }), expected);
    }),
    RUNS,
  );
});

test('protobufjs reads a delta response as it was written', () => {
  const type = DISCOVERY.DeltaDiscoveryResponse;
  fc.assert(
    fc.property(content, (fields) => {
      const { version, typeUrl, nonce, resources, removed } = fields;
      assert.deepEqual(
        type.toObject(type.decode(encodeDeltaDiscoveryResponse(fields)), { arrays: true, defaults: false }),
        {
          systemVersionInfo: version,
          resources: resources.map((each) => ({
            version: each.version,
            name: each.name,
            resource: { type_url: each.typeUrl, value: Buffer.from(each.bytes) },
            aliases: [],
          })),
          typeUrl,
          nonce,
          removedResources: removed,
          removedResourceNames: [],
        },
      );
    }),
    RUNS,
  );
});

test('a resource without content is a resource', () => {
  const empty = { typeUrl: 't', name: 'n', version: 'v', serverGroup: 'n', bytes: new Uint8Array() };
  const fields = { version: '1', typeUrl: 't', nonce: '1', resources: [empty], removed: [] };
  const decoded = DISCOVERY.DeltaDiscoveryResponse.decode(encodeDeltaDiscoveryResponse(fields));
  assert.deepEqual(DISCOVERY.DeltaDiscoveryResponse.toObject(decoded)['resources'], [
    { name: 'n', version: 'v', resource: { type_url: 't' } },
  ]);
});

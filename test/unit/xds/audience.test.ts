import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Audience, audienceOf } from '../../../src/xds/audience.ts';
import { listenerEncoders } from '../../../src/xds/encoder.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { listener, serverGroup } from '../../support/configuration.ts';
import { decodeFully } from '../../support/full-protos.ts';

const AGENTS: readonly (readonly [userAgent: string, kind: string, audience: Audience])[] = [
  ['envoy', 'ads', 'aggregated'],
  ['', 'ads', 'aggregated'],
  ['envoy', 'cds', 'separate'],
  ['envoy', 'eds', 'separate'],
  ['', 'lds', 'separate'],
  ['gRPC Go', 'ads', 'grpc'],
  ['gRPC C-core linux', 'ads', 'grpc'],
  ['gRPC Node Pure JS', 'ads', 'grpc'],
  ['grpcurl', 'ads', 'aggregated'],
];
for (const [userAgent, kind, audience] of AGENTS) {
  test(`'${userAgent}' on ${kind} is ${audience}`, () => {
    assert.equal(audienceOf({ id: 'n', cluster: 'c', userAgent, zone: '' }, kind), audience);
  });
}

function encodedFor(audience: Audience) {
  return listenerEncoders[audience](listener('llama'), serverGroup('llama')).map(
    ({ typeUrl, name, bytes }) => ({
      typeUrl,
      name,
      text: JSON.stringify(decodeFully(typeUrl, bytes)),
    }),
  );
}

test('an Envoy is told to get the rest as it got this: on the aggregated stream, or on streams of their own', () => {
  for (const [audience, source, other] of [
    ['aggregated', '"ads":{}', '"apiConfigSource":'],
    ['separate', '"apiConfigSource":', '"ads":{}'],
  ] as const) {
    const [cluster, lds, route] = encodedFor(audience);
    assert.deepEqual([cluster?.name, lds?.name, route?.name], ['llama', 'inference', 'inference']);
    for (const each of [cluster, lds]) {
      assert.ok(each?.text.includes(source), each?.text);
      assert.ok(!each?.text.includes(other), each?.text);
    }
  }
});

test('a gRPC application finds the group under its name, with routes inside and a policy that it knows', () => {
  const [cluster, lds, ...rest] = encodedFor('grpc');
  assert.deepEqual(rest, []);
  assert.deepEqual([cluster?.typeUrl, cluster?.name], [TYPE_URLS.cluster, 'llama']);
  assert.ok(!cluster?.text.includes('LEAST_REQUEST'), cluster?.text);
  assert.deepEqual([lds?.typeUrl, lds?.name], [TYPE_URLS.listener, 'llama']);
  assert.ok(lds?.text.includes('"apiListener":'), lds?.text);
});

test('two listeners of one group are one and the same to a gRPC application', () => {
  const [one, other] = ['one', 'other'].map((name) =>
    listenerEncoders.grpc(listener('llama', { name, port: 1 }), serverGroup('llama')),
  );
  assert.deepEqual(one, other);
});

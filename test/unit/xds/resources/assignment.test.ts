import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Endpoint, EndpointHealth } from '../../../../src/core/model/assignment.ts';
import { encodeAssignment } from '../../../../src/xds/resources/assignment.ts';
import { TYPE_URLS } from '../../../../src/xds/resources/type-urls.ts';
import { decodeFully } from '../../../support/full-protos.ts';
import { assertGoldenResource } from '../../../support/golden-resource.ts';

const endpoints: readonly Endpoint[] = [
  { address: '10.0.3.11', port: 8000, weight: 100_073, health: 'HEALTHY' },
  { address: '10.0.3.12', port: 8000, weight: 49_981, health: 'UNHEALTHY' },
  { address: '10.0.3.13', port: 8001, weight: 1, health: 'DRAINING' },
  { address: '2001:db8::11', port: 65_535, weight: 4_000_000_000, health: 'HEALTHY' },
];

test('the assignment of a group', () => {
  const bytes = encodeAssignment({ serverGroup: 'llama', endpoints, dropShare: 0 });
  assertGoldenResource('assignment', TYPE_URLS.endpoint, bytes);
});

test('an assignment without endpoints has only its name', () => {
  const bytes = encodeAssignment({ serverGroup: 'llama', endpoints: [], dropShare: 0 });
  assertGoldenResource('assignment-empty', TYPE_URLS.endpoint, bytes);
  assert.equal(Buffer.from(bytes).toString('latin1'), '\x0a\x05llama');
});

test('the locality is on the wire, empty, and has a weight of 1', () => {
  const hex = Buffer.from(encodeAssignment({ serverGroup: 'llama', endpoints, dropShare: 0 })).toString(
    'hex',
  );
  // LocalityLbEndpoints.locality is field 1, load_balancing_weight is field 3 and holds a UInt32Value
  assert.match(hex, /^0a056c6c616d61(?:12[0-9a-f]{4})0a0012/);
  assert.match(hex, /1a020801$/);
});

test('a refused share is one category in parts of 10,000', () => {
  const bytes = encodeAssignment({
    serverGroup: 'llama',
    endpoints: endpoints.slice(0, 1),
    dropShare: 0.345,
  });
  assertGoldenResource('assignment-shedding', TYPE_URLS.endpoint, bytes);
});

test('a locality for each zone, with the weight of those of it that take requests', () => {
  const zones = ['b', 'a', undefined, 'b'];
  const bytes = encodeAssignment({
    serverGroup: 'llama',
    endpoints: endpoints.map((of, index) => ({ ...of, zone: zones[index] })),
    dropShare: 0.1,
  });
  assertGoldenResource('assignment-zones', TYPE_URLS.endpoint, bytes);
  const { endpoints: localities } = decodeFully(TYPE_URLS.endpoint, bytes) as {
    readonly endpoints: readonly { readonly locality: object; readonly loadBalancingWeight: number }[];
  };
  assert.deepEqual(
    localities.map(({ locality, loadBalancingWeight }) => [locality, loadBalancingWeight]),
    [
      [{}, 1],
      [{ zone: 'a' }, 1],
      [{ zone: 'b' }, 4_000_100_073],
    ],
  );
});

test('all in one zone: one locality, whose weight says nothing', () => {
  const inZone = endpoints.map((of) => ({ ...of, zone: 'a' }));
  const bytes = encodeAssignment({ serverGroup: 'llama', endpoints: inZone, dropShare: 0 });
  const decoded = decodeFully(TYPE_URLS.endpoint, bytes) as {
    readonly endpoints: readonly object[];
    readonly policy?: object;
  };
  assert.equal(decoded.endpoints.length, 1);
  assert.equal(decoded.policy, undefined);
});

test("endpoints of Istio's mesh say that they are spoken to in mTLS", () => {
  const bytes = encodeAssignment({
    serverGroup: 'llama',
    endpoints: endpoints.slice(0, 2),
    dropShare: 0,
    mesh: 'Istio',
  });
  assertGoldenResource('assignment-istio', TYPE_URLS.endpoint, bytes);
});

test('every refused share in thousandths is on the wire exactly', () => {
  for (let thousandths = 1; thousandths <= 950; thousandths++) {
    const bytes = encodeAssignment({ serverGroup: 'llama', endpoints: [], dropShare: thousandths / 1000 });
    assert.deepEqual(decodeFully(TYPE_URLS.endpoint, bytes), {
      clusterName: 'llama',
      policy: {
        dropOverloads: [
          {
            category: 'plimsoll_admission',
            dropPercentage: { numerator: 10 * thousandths, denominator: 'TEN_THOUSAND' },
          },
        ],
      },
    });
  }
});

const health = fc.constantFrom<EndpointHealth>('HEALTHY', 'UNHEALTHY', 'DRAINING');
const endpoint: fc.Arbitrary<Endpoint> = fc.record({
  address: fc.oneof(fc.ipV4(), fc.ipV6()),
  port: fc.integer({ min: 1, max: 65_535 }),
  weight: fc.integer({ min: 1, max: 2 ** 32 - 2 }),
  health,
});

test('an Envoy reads in the bytes what was put in, in its order', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.array(endpoint, { minLength: 1 }), (name, list) => {
      const bytes = encodeAssignment({ serverGroup: name, endpoints: list, dropShare: 0 });
      assert.deepEqual(decodeFully(TYPE_URLS.endpoint, bytes), {
        clusterName: name,
        endpoints: [
          {
            locality: {},
            loadBalancingWeight: 1,
            lbEndpoints: list.map(({ address, port, weight, health: status }) => ({
              endpoint: { address: { socketAddress: { address, portValue: port } } },
              healthStatus: status,
              loadBalancingWeight: weight,
            })),
          },
        ],
      });
    }),
    { seed: 40, numRuns: 200 },
  );
});

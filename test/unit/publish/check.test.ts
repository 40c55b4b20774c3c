import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Assignment, Endpoint } from '../../../src/core/model/assignment.ts';
import { checkAssignment } from '../../../src/publish/check.ts';

const endpoint = (change: Partial<Endpoint> = {}): Endpoint => ({
  address: '10.0.3.11',
  port: 8000,
  weight: 1,
  health: 'HEALTHY',
  ...change,
});
const of = (...endpoints: readonly Endpoint[]): Assignment => ({
  serverGroup: 'llama',
  endpoints,
  dropShare: 0,
});

test('an assignment that Envoy takes is passed', () => {
  const ipv6 = endpoint({ address: '2001:db8::1', weight: 100_000 });
  assert.equal(checkAssignment(of()), undefined);
  assert.equal(checkAssignment(of(endpoint(), endpoint({ port: 8001 }), ipv6)), undefined);
  assert.equal(checkAssignment({ ...of(endpoint()), dropShare: 0.95 }), undefined);
});

for (const [what, assignment, expected] of [
  ['a host name', of(endpoint({ address: 'gpu-1' })), 'the address gpu-1 is no IP literal'],
  ['port 0', of(endpoint({ port: 0 })), '10.0.3.11|0: the port is not an integer of 1..65535'],
  ['port 65536', of(endpoint({ port: 65536 })), '10.0.3.11|65536: the port is not an integer of 1..65535'],
  ['weight 0', of(endpoint({ weight: 0 })), '10.0.3.11|8000: the weight 0 is not an integer of at least 1'],
  [
    'weight 1.5',
    of(endpoint({ weight: 1.5 })),
    '10.0.3.11|8000: the weight 1.5 is not an integer of at least 1',
  ],
  ['NaN', of(endpoint({ weight: NaN })), '10.0.3.11|8000: the weight NaN is not an integer of at least 1'],
  ['an endpoint twice', of(endpoint(), endpoint({ weight: 2 })), '10.0.3.11|8000 stands twice'],
  [
    'a sum beyond 32 bits',
    of(endpoint({ weight: 2 ** 31 }), endpoint({ port: 8001, weight: 2 ** 31 })),
    'the weights add up to 4294967296, more than 4294967294',
  ],
  [
    'a refused share of 0.96',
    { ...of(endpoint()), dropShare: 0.96 },
    'the refused share 0.96 is not a number of 0..0.95',
  ],
  [
    'a negative refused share',
    { ...of(endpoint()), dropShare: -0.001 },
    'the refused share -0.001 is not a number of 0..0.95',
  ],
  [
    'a refused share that is no number',
    { ...of(endpoint()), dropShare: NaN },
    'the refused share NaN is not a number of 0..0.95',
  ],
] as const) {
  test(`${what} is refused`, () => {
    assert.equal(checkAssignment(assignment), expected);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foundTargets } from '../../../src/discovery/targets.ts';

test('targets are backends; the labels weight, zone and __metrics_path__ count', () => {
  const labels = {
    weight: '50',
    zone: 'a',
    __meta_ec2_availability_zone: 'b',
    __metrics_path__: '/m',
    job: 'x',
  };
  assert.deepEqual(foundTargets([{ address: '[::1]:80', labels }]), {
    found: [{ address: '::1', port: 80, weight: 50, zone: 'a', metrics: { path: '/m' } }],
    leftOut: [],
  });
  const meta = { __meta_gce_zone: 'c', __meta_ec2_availability_zone: 'b' };
  assert.deepEqual(foundTargets([{ address: '10.0.0.1:80', labels: meta }]).found, [
    { address: '10.0.0.1', port: 80, weight: undefined, zone: 'b', metrics: undefined },
  ]);
});

const OUT: readonly (readonly [string, string])[] = [
  ['vllm.local:80', 'vllm.local:80: a host name is no address; Discovery with Dns looks names up'],
  ['10.0.0.1', '10.0.0.1: no ADDRESS:PORT'],
  ['10.0.0.1:http', '10.0.0.1:http: no ADDRESS:PORT'],
  ['::1:80', '::1:80: no ADDRESS:PORT'],
  ['http://10.0.0.1:80', 'http://10.0.0.1:80: no ADDRESS:PORT'],
  ['', ': no ADDRESS:PORT'],
];
for (const [address, words] of OUT) {
  test(`${JSON.stringify(address)} is left out`, () => {
    assert.deepEqual(foundTargets([{ address, labels: {} }]), { found: [], leftOut: [words] });
  });
}

for (const weight of ['101', '-1', '0.5', '1e1', '', 'many']) {
  test(`a weight of ${JSON.stringify(weight)} leaves its targets out`, () => {
    const { leftOut } = foundTargets([{ address: '10.0.0.1:80', labels: { weight } }]);
    assert.deepEqual(leftOut, [
      `10.0.0.1:80: its label weight is "${weight}", but must be an integer 0..100`,
    ]);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../src/xds/client.ts';

test('a client is its certificate, whatever its address', () => {
  const name = 'spiffe://cluster.local/ns/llama/sa/one';
  assert.deepEqual(clientOf({ kind: 'uri', name }, '10.0.0.1'), { key: name, name });
});

test('names that are long and begin alike are different clients, and shown cut', () => {
  const [one, other] = ['1', '2'].map((end) =>
    clientOf({ kind: 'uri', name: `spiffe://cluster.local/${'x'.repeat(300)}${end}` }, '10.0.0.1'),
  );
  assert.notEqual(one?.key, other?.key);
  assert.equal(one?.name, other?.name);
  assert.equal(one?.name.length, 200);
});

for (const [address, key] of [
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::5:6:7:8:9', '2001:db8:0:5::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1:2%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
] as const) {
  test(`without a certificate the address ${address} is the client ${key}`, () => {
    assert.equal(clientOf(undefined, address).key, key);
  });
}

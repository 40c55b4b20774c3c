import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Found } from '../../../src/discovery/discoverer.ts';
import { foundBackends } from '../../../src/discovery/found-backends.ts';

function taken(list: readonly Found[], allowLinkLocal = false) {
  const made = foundBackends(list, allowLinkLocal);
  assert.ok(made.kind === 'list');
  return made;
}

test('backends are in canonical form, sorted, and none is there twice', () => {
  const { backends } = taken([
    { address: '2001:DB8:0::1', port: 8000, weight: 3 },
    { address: '10.0.0.2', port: 8001 },
    { address: '10.0.0.2', port: 8000, zone: 'a', metrics: { port: 9400, path: '/m' } },
    { address: '::ffff:10.0.0.2', port: 8001, weight: 5 },
  ]);
  assert.deepEqual(backends, [
    {
      id: '10.0.0.2:8000',
      address: '10.0.0.2',
      port: 8000,
      weight: 100,
      zone: 'a',
      metrics: { port: 9400, path: '/m' },
    },
    { id: '10.0.0.2:8001', address: '10.0.0.2', port: 8001, weight: 100 },
    { id: '[2001:db8::1]:8000', address: '2001:db8::1', port: 8000, weight: 3 },
  ]);
});

test('of two that are one the larger weight counts, and what either knows; it drains when both say so', () => {
  const at = { address: '10.0.0.2', port: 8000 };
  const { backends } = taken([
    { ...at, weight: 2, draining: true },
    { ...at, weight: 7, zone: 'b', metrics: { path: '/m' } },
  ]);
  assert.deepEqual(backends, [
    { id: '10.0.0.2:8000', ...at, weight: 7, zone: 'b', metrics: { port: undefined, path: '/m' } },
  ]);
  assert.equal(
    taken([
      { ...at, draining: true },
      { ...at, draining: true },
    ]).backends[0]?.draining,
    true,
  );
});

const OUT: readonly (readonly [string, Found, RegExp])[] = [
  ['a name', { address: 'vllm.local', port: 1 }, /^vllm\.local:1: no IP address that can be reached$/],
  ['nowhere', { address: '0.0.0.0', port: 1 }, /no IP address/],
  ['everybody', { address: '224.0.0.1', port: 1 }, /no IP address/],
  ['a zone id', { address: 'fe80::1%eth0', port: 1 }, /no IP address/],
  [
    'this link',
    { address: '169.254.169.254', port: 80 },
    /link-local address, which only a group with AllowLinkLocal/,
  ],
  ['port 0', { address: '10.0.0.1', port: 0 }, /the port is not 1\.\.65535/],
  ['port NaN', { address: '10.0.0.1', port: Number.NaN }, /the port/],
  ['weight 101', { address: '10.0.0.1', port: 1, weight: 101 }, /the weight 101 is not an integer 0\.\.100/],
  ['half a weight', { address: '10.0.0.1', port: 1, weight: 0.5 }, /the weight 0\.5/],
  ['control characters', { address: 'a\n\u001b[31m', port: 1 }, /^a\\u\{a\}\\u\{1b\}\[31m:1/],
];
for (const [name, found, words] of OUT) {
  test(`${name} is left out with a word; the others count`, () => {
    const { backends, leftOut } = taken([found, { address: '10.0.0.9', port: 1 }]);
    assert.deepEqual(
      backends.map(({ id }) => id),
      ['10.0.0.9:1'],
    );
    assert.equal(leftOut.length, 1);
    assert.match(leftOut[0] ?? '', words);
  });
}

test('a group that allows it may have addresses of this link', () => {
  assert.equal(taken([{ address: '169.254.1.1', port: 80 }], true).backends.length, 1);
});

test('a zone or a metrics address that is none is as if it were not there', () => {
  const at = { address: '10.0.0.1', port: 1 };
  for (const zone of ['', 'a b', 'a\u0000', 'x'.repeat(257)]) {
    assert.equal(taken([{ ...at, zone }]).backends[0]?.zone, undefined);
  }
  for (const metrics of [
    { port: 70_000 },
    { path: 'm' },
    { path: '/a b' },
    { path: `/${'x'.repeat(2048)}` },
  ]) {
    assert.equal(taken([{ ...at, metrics }]).backends[0]?.metrics, undefined);
  }
});

test('10,000 backends are taken, one more is refused', () => {
  const list = Array.from({ length: 10_001 }, (_, i) => ({
    address: `10.1.${i >> 8}.${i & 255}`,
    port: 8000,
  }));
  assert.equal(taken([...list.slice(1), ...list.slice(1)]).backends.length, 10_000);
  assert.deepEqual(foundBackends(list, false), {
    kind: 'refused',
    reason: 'it has more than 10000 backends, the most of a group',
  });
});

import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { overlaps, parseListen } from '../../../src/config/address.ts';
import { parseDestination, parseIp } from '../../../src/runtime/ip-address.ts';
import { formatHostPort } from '../../../src/runtime/host-port.ts';

const CANONICAL: readonly (readonly [string, string])[] = [
  ['10.0.3.11', '10.0.3.11'],
  ['255.255.255.255', '255.255.255.255'],
  ['::', '::'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:DB8::00AB', '2001:db8::ab'],
  ['2001:db8:0:1:0:0:0:1', '2001:db8:0:1::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['::ffff:10.0.3.11', '10.0.3.11'],
  ['::FFFF:0a00:030b', '10.0.3.11'],
  ['::ffff:255.0.255.0', '255.0.255.0'],
  ['64:ff9b::10.0.3.11', '64:ff9b::a00:30b'],
];

test('IP literals and their canonical form', () => {
  for (const [text, value] of CANONICAL) assert.deepEqual(parseIp(text), { kind: 'ok', value });
});

test('no IP literals', () => {
  for (const text of [
    '',
    'a',
    '10.0.3',
    '10.0.3.256',
    '10.0.3.01',
    '0x0a000301',
    ':::',
    '[::1]',
    '::1%lo',
    ' ::1',
    '1::2::3',
  ]) {
    assert.equal(parseIp(text).kind, 'bad', text);
  }
});

test('the canonical form of a canonical form is itself', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const first = parseIp(text);
      assert.equal(first.kind, 'ok');
      assert.deepEqual(parseIp(first.value), first);
    }),
    { seed: 1 },
  );
});

test('addresses that no server can be reached at', () => {
  for (const text of [
    '0.0.0.0',
    '::',
    '::ffff:0.0.0.0',
    '224.0.0.1',
    '239.255.255.255',
    '255.255.255.255',
    'ff02::1',
  ]) {
    assert.equal(parseDestination(text).kind, 'bad', text);
  }
  for (const text of ['127.0.0.1', '::1', '169.254.1.1', 'fe80::1', '223.255.255.255']) {
    assert.equal(parseDestination(text).kind, 'ok', text);
  }
});

test('what is listened on, there and back', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.integer({ min: 0, max: 65_535 }), (host, port) => {
      const text = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
      const parsed = parseListen(text);
      assert.equal(parsed.kind, 'ok');
      assert.equal(parsed.value.port, port);
      assert.deepEqual(parseListen(formatHostPort(parsed.value.host, port)), parsed);
    }),
    { seed: 2 },
  );
});

test('what cannot be listened on', () => {
  const texts = [
    '',
    ':',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:x',
    '127.0.0.1:-1',
    '127.0.0.1:65536',
    '127.0.0.1:1:2',
  ];
  for (const text of [
    ...texts,
    '[127.0.0.1]:1',
    '[]:1',
    '[::1%lo]:1',
    '::1:1',
    '*:1',
    ':1',
    'localhost:1',
    ' 127.0.0.1:1',
  ]) {
    assert.equal(parseListen(text).kind, 'bad', text);
  }
});

test('which addresses overlap', () => {
  assert.equal(overlaps('127.0.0.1', '127.0.0.1', false), true);
  assert.equal(overlaps('127.0.0.1', '127.0.0.2', false), false);
  assert.equal(overlaps('0.0.0.0', '127.0.0.2', false), true);
  assert.equal(overlaps('::1', '::', false), true);
  assert.equal(overlaps('0.0.0.0', '::', false), false);
  assert.equal(overlaps('0.0.0.0', '::1', true), false);
  assert.equal(overlaps('127.0.0.1', '::', true), true);
});

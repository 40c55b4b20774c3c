import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatHostPort } from '../../../src/runtime/host-port.ts';

test('an IPv6 address has brackets, and nothing else has', () => {
  assert.equal(formatHostPort('10.0.3.11', 8000), '10.0.3.11:8000');
  assert.equal(formatHostPort('plimsoll.example', 0), 'plimsoll.example:0');
  assert.equal(formatHostPort('2001:db8::1', 8000), '[2001:db8::1]:8000');
});

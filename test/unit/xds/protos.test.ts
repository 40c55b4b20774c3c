import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { messageType, readBundle } from '../../../src/xds/protos.ts';

test('a missing bundle says how to make one', () => {
  const file = pathToFileURL('/nowhere/envoy.json');
  assert.throws(() => readBundle(file), {
    name: 'PlimsollError',
    code: 'io',
    message: "/nowhere/envoy.json: no bundle of Envoy's messages there: run npm run build",
  });
});

test('a message that is not in the bundle is named', () => {
  assert.throws(() => messageType('envoy.config.bootstrap.v3.Bootstrap'), {
    code: 'internal',
    message: /^envoy\.config\.bootstrap\.v3\.Bootstrap is not in the bundle/,
  });
});

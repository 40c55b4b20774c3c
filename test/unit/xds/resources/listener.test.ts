import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adsSource } from '../../../../src/xds/resources/config-source.ts';
import { encodeListener } from '../../../../src/xds/resources/listener.ts';
import { TYPE_URLS } from '../../../../src/xds/resources/type-urls.ts';
import { listener, serverGroup } from '../../../support/configuration.ts';
import { decodeFully } from '../../../support/full-protos.ts';
import { assertGoldenResource } from '../../../support/golden-resource.ts';

test('the listener of a group', () => {
  const bytes = encodeListener(listener('llama'), serverGroup('llama'), adsSource);
  assertGoldenResource('listener', TYPE_URLS.listener, bytes);
});

test('a listener on an IPv6 address', () => {
  const bytes = encodeListener(
    listener('llama', { name: 'six', address: '::1' }),
    serverGroup('llama'),
    adsSource,
  );
  assertGoldenResource('listener-ipv6', TYPE_URLS.listener, bytes);
});

test('a listener whose clients keep to their backend', () => {
  const bytes = encodeListener(
    listener('llama', { affinityHeader: 'x-plimsoll-backend' }),
    serverGroup('llama'),
    adsSource,
  );
  assertGoldenResource('listener-affinity', TYPE_URLS.listener, bytes);
});

for (const [seconds, header] of [
  [1, '1'],
  [0.2, '1'],
  [2.5, '3'],
  [120, '120'],
] as const) {
  test(`RetryAfterSeconds ${seconds} is retry-after: ${header}`, () => {
    const bytes = encodeListener(
      listener('llama'),
      serverGroup('llama', { retryAfterSeconds: seconds }),
      adsSource,
    );
    const json = JSON.stringify(decodeFully(TYPE_URLS.listener, bytes));
    assert.ok(json.includes(`{"key":"retry-after","value":"${header}"}`), json);
  });
}

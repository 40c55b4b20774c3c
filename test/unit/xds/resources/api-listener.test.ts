import { test } from 'node:test';
import { encodeApiListener } from '../../../../src/xds/resources/api-listener.ts';
import { TYPE_URLS } from '../../../../src/xds/resources/type-urls.ts';
import { serverGroup } from '../../../support/configuration.ts';
import { assertGoldenResource } from '../../../support/golden-resource.ts';

test('the listener that a gRPC application asks for', () => {
  assertGoldenResource('api-listener', TYPE_URLS.listener, encodeApiListener(serverGroup('llama')));
});

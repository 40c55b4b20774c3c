import { test } from 'node:test';
import { encodeRoute } from '../../../../src/xds/resources/route.ts';
import { TYPE_URLS } from '../../../../src/xds/resources/type-urls.ts';
import { listener, serverGroup } from '../../../support/configuration.ts';
import { assertGoldenResource } from '../../../support/golden-resource.ts';

test('the routes of a listener', () => {
  const bytes = encodeRoute(listener('llama'), serverGroup('llama'));
  assertGoldenResource('route', TYPE_URLS.route, bytes);
});

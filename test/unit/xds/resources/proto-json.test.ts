import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeProtoJson } from '../../../../src/xds/resources/proto-json.ts';
import { TYPE_URLS } from '../../../../src/xds/resources/type-urls.ts';

test('a field that does not exist, or that the bundle does not have, is refused and named', () => {
  assert.throws(
    () => encodeProtoJson(TYPE_URLS.cluster, { nmae: 'llama' }),
    /Cluster: unknown field: "nmae"/,
  );
  assert.throws(() => encodeProtoJson(TYPE_URLS.cluster, { lb_subset_config: {} }), /"lb_subset_config"/);
});

test('a value that does not fit its field is refused', () => {
  assert.throws(
    () => encodeProtoJson(TYPE_URLS.cluster, { connect_timeout: '1 second' }),
    /invalid duration/,
  );
  assert.throws(() => encodeProtoJson(TYPE_URLS.cluster, { lb_policy: 'FASTEST' }), /unknown enum value/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeCluster } from '../../../../src/xds/resources/cluster.ts';
import { adsSource } from '../../../../src/xds/resources/config-source.ts';
import { TYPE_URLS } from '../../../../src/xds/resources/type-urls.ts';
import { serverGroup } from '../../../support/configuration.ts';
import { assertGoldenResource } from '../../../support/golden-resource.ts';

test('the cluster of a group', () => {
  const bytes = encodeCluster(serverGroup('llama'), adsSource);
  assertGoldenResource('cluster-least-request', TYPE_URLS.cluster, bytes);
});

test('the cluster of a group with plain round robin', () => {
  const bytes = encodeCluster(serverGroup('llama', { envoyLbPolicy: 'RoundRobin' }), adsSource);
  assertGoldenResource('cluster-round-robin', TYPE_URLS.cluster, bytes);
});

test("CommonLbConfig has its empty messages, whose absence would mean Envoy's 50 %, 100 % and 1 s", () => {
  const bytes = Buffer.from(encodeCluster(serverGroup('llama'), adsSource));
  // Cluster.common_lb_config is field 27: 8 bytes, healthy_panic_threshold 0a 00, zone_aware_lb_config.routing_enabled
  // 12 02 0a 00, update_merge_window 22 00
  const commonLbConfig = Buffer.from([0xda, 0x01, 0x08, 0x0a, 0, 0x12, 0x02, 0x0a, 0, 0x22, 0]);
  assert.notEqual(bytes.indexOf(commonLbConfig), -1, bytes.toString('hex'));
});

test('without outlier detection', () => {
  const bytes = encodeCluster(serverGroup('llama', { outlierDetection: false }), adsSource);
  assertGoldenResource('cluster-no-outlier-detection', TYPE_URLS.cluster, bytes);
});

test("outlier detection has its zero, whose absence would mean Envoy's 100", () => {
  const bytes = Buffer.from(encodeCluster(serverGroup('llama'), adsSource)).toString('hex');
  // Cluster.outlier_detection is field 19: consecutive_5xx 0a 02 08 05, interval 12 02 08 01, base_ejection_time
  // 1a 02 08 05, max_ejection_percent 22 02 08 32, enforcing_success_rate 32 00, max_ejection_time 62 02 08 3c
  assert.match(bytes, /9a01(..)0a020805120208011a020805220208323200/);
});

const healthCheck = {
  path: '/health',
  intervalSeconds: 2.5,
  timeoutSeconds: 1,
  unhealthyThreshold: 3,
  healthyThreshold: 1,
};

test('with a health check', () => {
  const bytes = encodeCluster(serverGroup('llama', { healthCheck }), adsSource);
  assertGoldenResource('cluster-health-check', TYPE_URLS.cluster, bytes);
});

test("the health check has its false, whose absence would mean Envoy's true", () => {
  const bytes = Buffer.from(encodeCluster(serverGroup('llama', { healthCheck }), adsSource)).toString('hex');
  // HealthCheck.healthy_threshold is field 5, reuse_connection field 7
  assert.match(bytes, /2a0208013a00/);
});

test('equal groups give equal bytes, whatever their servers', () => {
  const bytes = encodeCluster(serverGroup('llama'), adsSource);
  assert.deepEqual(encodeCluster(serverGroup('llama', { servers: [] }), adsSource), bytes);
  assert.notDeepEqual(encodeCluster(serverGroup('mistral'), adsSource), bytes);
});

test('a name as a service mesh makes them', () => {
  const bytes = encodeCluster(serverGroup('outbound|8000||llama.ns.svc.cluster.local'), adsSource);
  assertGoldenResource('cluster-mesh-name', TYPE_URLS.cluster, bytes);
});

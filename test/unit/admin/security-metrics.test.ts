import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { SecurityMetrics } from '../../../src/admin/security-metrics.ts';

/** The samples of the page, without its comments. */
async function samples(registry: Registry): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('without TLS there is no certificate that could expire', async () => {
  const registry = new Registry();
  new SecurityMetrics(registry);
  assert.deepEqual(await samples(registry), [
    'plimsoll_xds_certificate_reload_failures_total 0',
    'plimsoll_xds_permission_denied_total 0',
  ]);
});

test('what happened is shown', async () => {
  const registry = new Registry();
  const metrics = new SecurityMetrics(registry);
  metrics.certificateTaken(1_700_000_000_000);
  metrics.certificateTaken(1_800_000_000_000);
  metrics.certificateRefused();
  metrics.handshakeFailed('no_h2');
  metrics.handshakeFailed('no_h2');
  metrics.permissionDenied();
  assert.deepEqual(await samples(registry), [
    'plimsoll_xds_certificate_reload_failures_total 1',
    'plimsoll_xds_tls_handshake_failures_total{reason="no_h2"} 2',
    'plimsoll_xds_permission_denied_total 1',
    'plimsoll_xds_certificate_not_after_seconds 1800000000',
  ]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { DelayMetrics } from '../../../src/admin/delay-metrics.ts';

/** Sums, counts and counters of the page. */
async function totals(registry: Registry): Promise<readonly string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => /_(sum|count|total)\{/.test(line));
}

test('the parts of a delay add up to it', async () => {
  const registry = new Registry();
  const metrics = new DelayMetrics(registry);
  metrics.acknowledgedAfter('llama', 0.5);
  metrics.applied('llama', { collect: 0.25, publish: 0.125, sidecars: 0.5 });
  metrics.unapplied('llama', 'left', 2);
  assert.deepEqual(await totals(registry), [
    'plimsoll_server_group_ack_seconds_sum{server_group="llama"} 0.5',
    'plimsoll_server_group_ack_seconds_count{server_group="llama"} 1',
    'plimsoll_server_group_apply_delay_seconds_sum{server_group="llama"} 0.875',
    'plimsoll_server_group_apply_delay_seconds_count{server_group="llama"} 1',
    ...[
      ['collect', 0.25],
      ['publish', 0.125],
      ['sidecars', 0.5],
    ].flatMap(([phase, sum]) => [
      `plimsoll_server_group_apply_phase_seconds_sum{server_group="llama",phase="${phase}"} ${sum}`,
      `plimsoll_server_group_apply_phase_seconds_count{server_group="llama",phase="${phase}"} 1`,
    ]),
    'plimsoll_server_group_unapplied_total{server_group="llama",reason="left"} 2',
  ]);
});

test('a group that is gone leaves no series behind', async () => {
  const registry = new Registry();
  const metrics = new DelayMetrics(registry);
  for (const group of ['gone', 'there']) {
    metrics.acknowledgedAfter(group, 0.1);
    metrics.applied(group, { collect: 0.1, publish: 0.1, sidecars: 0.1 });
    for (const reason of ['left', 'rejected', 'timeout'] as const) metrics.unapplied(group, reason, 1);
  }
  metrics.forget('gone');
  metrics.forget('never there');
  const page = await registry.metrics();
  assert.equal(page.includes('gone'), false);
  assert.ok(page.includes('there'));
});

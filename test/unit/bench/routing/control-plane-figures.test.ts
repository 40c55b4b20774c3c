import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { DelayMetrics } from '../../../../src/admin/delay-metrics.ts';
import { figuresBetween } from '../../../bench/routing/control-plane-figures.ts';

function near(actual: number | null, expected: number): void {
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);
}

test('delays are those of the counted time, estimated from the buckets', async () => {
  const registry = new Registry();
  const delays = new DelayMetrics(registry);
  const apply = (seconds: number): void => {
    delays.applied('llama', { collect: seconds, publish: 0, sidecars: 0 });
  };
  for (let count = 0; count < 50; count++) apply(9); // before the counted time
  const before = await registry.metrics();
  const nothing = figuresBetween(before, before);
  assert.deepEqual([nothing.delayP50, nothing.delayP99], [null, null]);
  for (let count = 0; count < 80; count++) apply(0.008);
  for (let count = 0; count < 20; count++) apply(0.06);
  const { delayP50, delayP99 } = figuresBetween(before, await registry.metrics());
  // 80 in the bucket from 5 to 10 ms, 20 in that from 50 to 75 ms
  near(delayP50, 0.005 + (0.005 * 50) / 80);
  near(delayP99, 0.05 + (0.025 * 19) / 20);
});

test('pushes of all reasons count', () => {
  const page = (first: number, shares: number): string =>
    `plimsoll_server_group_pushes_total{server_group="llama",reason="first"} ${first}\n` +
    `plimsoll_server_group_pushes_total{server_group="llama",reason="shares"} ${shares}\n`;
  assert.equal(figuresBetween(page(1, 4), page(1, 11)).pushes, 7);
});

test('a page without such metrics', () => {
  assert.deepEqual(figuresBetween('', ''), { pushes: 0, delayP50: null, delayP99: null });
});

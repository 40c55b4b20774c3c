import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueSeconds, saturatedRatio } from '../../../src/admin/autoscaling.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { BackendDecision } from '../../../src/core/model/decision.ts';
import { backend, backendDecision, groupDecision } from '../../support/decisions.ts';

function of(
  last: number,
  sample: Partial<Sample>,
  change: Partial<BackendDecision> = {},
  weight = 100,
): BackendDecision {
  const idle = { queued: 0, running: 0, kvUtilization: 0, finished: 0, latency: undefined };
  return backendDecision(backend(last, { weight }), { sample: { ...idle, ...sample }, ...change });
}

test('what queues takes as long as its part of the stay', () => {
  // 150 requests that stay for 15 s: 10 are finished in a second, and 100 queue
  const decision = groupDecision('llama', [
    of(1, { queued: 80, running: 20 }),
    of(2, { queued: 20, running: 30 }),
  ]);
  assert.equal(queueSeconds({ ...decision, staySeconds: 15 }), 10);
});

test('nothing queues: 0, also where nothing runs', () => {
  assert.equal(queueSeconds(groupDecision('llama', [of(1, {}), of(2, { running: 9 })])), 0);
});

test('what has no fresh sample, or lacks a gauge, does not count', () => {
  const lost = of(1, { queued: 50, running: 1 }, { use: 'worst' });
  const without = of(2, { queued: undefined, running: 5 });
  assert.equal(queueSeconds(groupDecision('llama', [lost, without])), undefined);
  const good = of(3, { queued: 1, running: 3 });
  assert.equal(queueSeconds(groupDecision('llama', [lost, without, good])), 2);
});

test('saturated: of those that may take traffic', () => {
  const saturated = { saturated: true, health: 'UNHEALTHY' } as const;
  const backends = [of(1, {}, saturated), of(2, {}), of(3, {}), of(4, {}), of(5, {}, saturated, 0)];
  assert.equal(saturatedRatio(groupDecision('llama', backends)), 0.25);
  assert.equal(saturatedRatio(groupDecision('llama', backends.slice(4))), undefined);
});

test('saturated: all, when those beside them sleep, are removed or drain', () => {
  const full = of(1, {}, { saturated: true, health: 'UNHEALTHY' });
  const asleep = of(2, {}, { use: 'asleep', health: undefined });
  const removed = of(3, {}, { use: 'removed', health: undefined });
  const leaving = backendDecision(backend(4, { draining: true }), { use: 'draining', health: 'DRAINING' });
  assert.equal(saturatedRatio(groupDecision('llama', [full, asleep, removed, leaving])), 1);
  assert.equal(saturatedRatio(groupDecision('llama', [asleep, removed, leaving])), undefined);
});

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { lackingScorers, weighedSignals } from '../../../../src/core/scorers/weighed.ts';
import { Fleet, one, relative, SCORERS } from '../../../support/fleet.ts';

const ALL = { queued: true, kv: true, running: true };

const parts = (metrics: typeof ALL, scorers = SCORERS) =>
  weighedSignals(scorers, metrics).map(({ signal, part }) => [signal.name, part]);

test('parts add up to 1, whatever the weights add up to', () => {
  assert.deepEqual(parts(ALL), [
    ['TotalQueuedRequests', 0.5],
    ['KVCacheUtilization', 0.3],
    ['RunningRequests', 0.2],
  ]);
});

test('a scorer whose metric is lacking, or of weight 0, leaves its weight to the others', () => {
  const metrics = { ...ALL, kv: false };
  assert.deepEqual(parts(metrics, [...SCORERS.slice(0, 2), { name: 'RunningRequests', weight: 50 }]), [
    ['TotalQueuedRequests', 0.5],
    ['RunningRequests', 0.5],
  ]);
  assert.deepEqual(lackingScorers(SCORERS, metrics), ['KVCacheUtilization']);
  assert.deepEqual(lackingScorers([{ name: 'KVCacheUtilization', weight: 0 }], metrics), []);
  assert.deepEqual(parts(ALL, [{ name: 'RunningRequests', weight: 0 }]), []);
});

test('a group in which one engine lacks a metric goes without it, and says so', () => {
  const decision = new Fleet(2).step([
    { running: 10, kvUtilization: 1 },
    { running: 10, kvUtilization: undefined },
  ]);
  assert.equal(decision.mode, 'balanced');
  assert.deepEqual(relative(decision), [1, 1]);
  assert.deepEqual(decision.warnings, [
    'scorer KVCacheUtilization is left out: not every backend has its metric',
  ]);
});

test('an engine without a queue gauge: queued requests are neither compared nor counted inside', () => {
  const decision = new Fleet(2).step([
    { running: 10, queued: 9 },
    { running: 10, queued: undefined },
  ]);
  assert.deepEqual(relative(decision), [1, 1]);
});

test('no scorer has a metric: configured weights and a warning; saturation and slow start still hold', () => {
  const fleet = new Fleet(2, { scorers: [{ name: 'KVCacheUtilization', weight: 10 }] });
  const decision = fleet.step([
    { queued: 20, kvUtilization: undefined },
    { queued: 0, kvUtilization: undefined },
  ]);
  assert.equal(decision.mode, 'configured');
  assert.equal(decision.gain, 0);
  assert.deepEqual(relative(decision), [1, 1]);
  assert.equal(one(decision, 0).health, 'UNHEALTHY');
  assert.equal(one(decision, 0).score, undefined);
  assert.deepEqual(decision.warnings, [
    'no backend load to weigh, KVCacheUtilization not to be had: configured weights',
  ]);
});

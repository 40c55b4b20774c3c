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
    'scorer KVCacheUtilization is left out: its metric is not to be had of 10.0.3.2:8000',
  ]);
});

test('an engine without a queue gauge is taken to queue as the others do', () => {
  const decision = new Fleet(3).step([
    { running: 10, queued: 9 },
    { running: 10, queued: undefined },
    { running: 10, queued: 9 },
  ]);
  assert.deepEqual(relative(decision), [1, 1, 1]);
  const busier = new Fleet(2).step([
    { running: 10, queued: 9 },
    { running: 14, queued: undefined },
  ]);
  assert.ok(one(busier, 1).deviation < 0, 'what it has is compared');
});

test('a metric without weight that one backend lacks changes nothing for the others', () => {
  const cases = [
    ['TotalQueuedRequests', 'running'],
    ['TotalQueuedRequests', 'kvUtilization'],
    ['KVCacheUtilization', 'queued'],
    ['KVCacheUtilization', 'running'],
    ['RunningRequests', 'queued'],
  ] as const;
  for (const policy of ['Adaptive', 'Linear'] as const) {
    for (const [name, lacking] of cases) {
      const usual = { queued: 4, running: 60, kvUtilization: 0.5 };
      const light = { queued: 2, running: 58, kvUtilization: 0.4 };
      const heavy = { queued: 6, running: 62, kvUtilization: 0.6 };
      const options = { policy, scorers: [{ name, weight: 50 }] };
      const whole = new Fleet(3, options).step([usual, light, heavy]);
      const part = new Fleet(3, options).step([{ ...usual, [lacking]: undefined }, light, heavy]);
      const what = `${policy}, ${name} weighed, ${lacking} lacking`;
      assert.equal(part.gain, whole.gain, what);
      for (const [index, of] of part.backends.entries()) {
        assert.ok(Math.abs(of.deviation - one(whole, index).deviation) < 1e-12, what);
        assert.ok(Math.abs(of.relativeWeight - one(whole, index).relativeWeight) < 1e-12, what);
      }
      assert.deepEqual(part.warnings, []);
    }
  }
});

test('only samples that count decide which metrics are compared', () => {
  const fleet = new Fleet(4, { scorers: [{ name: 'KVCacheUtilization', weight: 10 }] });
  const others = (step: number) =>
    [0.2, 0.5, 0.8].map((kvUtilization) => ({ running: 20, kvUtilization, finished: step }));
  const lacking = fleet.step([...others(0), { running: 20, kvUtilization: undefined }]);
  assert.equal(lacking.mode, 'configured');
  assert.equal(fleet.step([...others(1), 'timeout']).mode, 'configured', 'its last sample still counts');
  const decision = fleet.step([...others(2), 'timeout']);
  assert.equal(decision.mode, 'balanced');
  assert.deepEqual(decision.warnings, []);
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
    'half of the backends or more are saturated: the others take what comes',
  ]);
});

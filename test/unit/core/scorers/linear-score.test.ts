import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Scorer } from '../../../../src/core/model/balance-settings.ts';
import type { Sample } from '../../../../src/core/model/collection.ts';
import { backend } from '../../../support/decisions.ts';
import { Fleet, one } from '../../../support/fleet.ts';

const only = (name: Scorer['name']): readonly Scorer[] => [{ name, weight: 50 }];

function scores(
  samples: readonly Partial<Sample>[],
  scorers: readonly Scorer[],
): readonly (number | undefined)[] {
  const decision = new Fleet(samples.length, { scorers }).step(samples);
  return decision.backends.map(({ score }) =>
    score === undefined ? undefined : Math.round(score * 100) / 100,
  );
}

test('the lightest has 100 and the heaviest 0, linear in between', () => {
  const queues = [0, 10, 40].map((queued) => ({ queued }));
  assert.deepEqual(scores(queues, only('TotalQueuedRequests')), [100, 75, 0]);
  const caches = [0.2, 0.5, 1].map((kvUtilization) => ({ kvUtilization }));
  assert.deepEqual(scores(caches, only('KVCacheUtilization')), [100, 62.5, 0]);
  const inside = [10, 20, 50].map((running) => ({ running }));
  assert.deepEqual(scores(inside, only('RunningRequests')), [100, 75, 0]);
});

test('all equal: all have 100', () => {
  const same = Array.from({ length: 3 }, () => ({ queued: 7, running: 30, kvUtilization: 0.9 }));
  assert.deepEqual(scores(same, only('TotalQueuedRequests')), [100, 100, 100]);
});

test('a small spread is not stretched', () => {
  assert.deepEqual(scores([{ queued: 0 }, { queued: 1 }], only('TotalQueuedRequests')), [100, 75]);
  assert.deepEqual(
    scores([{ kvUtilization: 0 }, { kvUtilization: 0.1 }], only('KVCacheUtilization')),
    [100, 50],
  );
  assert.deepEqual(scores([{ running: 0 }, { running: 2 }], only('RunningRequests')), [100, 75]);
});

test('running requests count with the queued ones', () => {
  const samples = [
    { running: 10, queued: 40 },
    { running: 50, queued: 0 },
    { running: 10, queued: 0 },
  ];
  assert.deepEqual(scores(samples, only('RunningRequests')), [0, 0, 100]);
});

test('scorer weights share the score', () => {
  const samples = [
    { queued: 20, kvUtilization: 0 },
    { queued: 0, kvUtilization: 1 },
  ];
  const scorers: readonly Scorer[] = [
    { name: 'TotalQueuedRequests', weight: 75 },
    { name: 'KVCacheUtilization', weight: 25 },
    { name: 'RunningRequests', weight: 0 },
  ];
  assert.deepEqual(scores(samples, scorers), [25, 75]);
});

test('a server of twice the weight may hold twice as many', () => {
  const fleet = new Fleet([backend(1, { weight: 50 }), backend(2, { weight: 100 })], {
    scorers: only('RunningRequests'),
  });
  const decision = fleet.step([{ running: 20 }, { running: 40 }]);
  assert.deepEqual(
    decision.backends.map((of) => of.score),
    [100, 100],
  );
});

test('one that misses has the score of what was put in for it, and no score when it is out', () => {
  const fleet = new Fleet(3, { scorers: only('TotalQueuedRequests') });
  const answer = [{ queued: 0 }, { queued: 8 }] as const;
  const decision = fleet.step([...answer, 'refused']);
  assert.equal(one(decision, 2).score, 0);
  const removing = new Fleet(3, { onCollectFailure: 'Remove' });
  assert.equal(one(removing.step([...answer, 'refused']), 2).score, undefined);
});

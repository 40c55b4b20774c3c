import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { type BackendMemory, newMemory } from '../../../src/core/memory.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import { type Progress, progressesOf } from '../../../src/core/progress.ts';
import { sampleOf } from '../../support/fleet.ts';

const SECONDS = 15;

/** Of one between two samples, beside three that hold a request each. */
function progressBeside(past: Partial<Sample>, present: Partial<Sample>): Progress {
  const memories = (own: Partial<Sample>, atMs: number): readonly BackendMemory[] =>
    [own, { running: 1 }, { running: 1 }, { running: 1 }].map((sample) => ({
      ...newMemory(undefined),
      sample: sampleOf(sample),
      sampledAtMs: atMs,
    }));
  const shares = new Float64Array(4).fill(1);
  const [first] = progressesOf(memories(past, 0), memories(present, 1000 * SECONDS), shares, SECONDS);
  assert.ok(first);
  return first;
}

test('a queue that is served is no request that comes, however little the others hold', () => {
  const { arrived, finished } = progressBeside(
    { queued: 84, running: 16 },
    { queued: 44, running: 16, finished: 42 },
  );
  assert.deepEqual([arrived, finished], [2, 42]);
});

test('of a gauge that is absurd beside those of the others what rises counts as far as it is credible', () => {
  assert.equal(progressBeside({ running: 16 }, { queued: 1e9, running: 16, finished: 10 }).arrived, 14);
  assert.equal(progressBeside({ queued: 1e9, running: 16 }, { running: 16, finished: 10 }).arrived, 0);
});

test('what runs is the mean of both samples, next to nothing at one of them included', () => {
  const drained = progressBeside({ running: 16 }, { running: 0, finished: 40 });
  assert.deepEqual([drained.ranSeconds, drained.runningSeconds], [SECONDS * 8, undefined]);
  const filled = progressBeside({ running: 4 }, { running: 16, finished: 40 });
  assert.deepEqual([filled.ranSeconds, filled.runningSeconds], [SECONDS * 10, SECONDS * 10]);
  const { ranSeconds } = progressBeside({ running: undefined }, { running: 3 });
  assert.equal(ranSeconds, undefined);
});

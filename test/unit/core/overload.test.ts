import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { type BackendMemory, newMemory } from '../../../src/core/memory.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { SampleUse } from '../../../src/core/model/decision.ts';
import { type QueueView, viewQueues } from '../../../src/core/overload.ts';
import { UNMARKED } from '../../../src/core/saturation.ts';
import { sampleOf } from '../../support/fleet.ts';

interface Seen {
  readonly now: Partial<Sample>;
  /** The sample before, and how long before. */
  readonly past?: Partial<Sample>;
  readonly seconds?: number;
  readonly use?: SampleUse;
}

function sampled(values: Partial<Sample> | undefined, atSeconds: number): BackendMemory {
  if (values === undefined) return newMemory(undefined);
  return { ...newMemory(undefined), sample: sampleOf(values), sampledAtMs: 1000 * atSeconds };
}

function view(backends: readonly Seen[], lackedCounter = false): QueueView {
  return viewQueues(
    backends.map(({ past, seconds = 1 }) => sampled(past, 100 - seconds)),
    backends.map(({ now }) => sampled(now, 100)),
    backends.map(({ use = 'fresh' }) => use),
    1,
    lackedCounter,
  );
}

function overload(backends: readonly Seen[]) {
  const seen = view(backends);
  return seen.kind === 'queues' ? seen.overload : assert.fail(seen.kind);
}

const queues = (...queued: readonly number[]) => overload(queued.map((each) => ({ now: { queued: each } })));

test('the median and the mean of what queues', () => {
  const one = { members: 1, backends: 1, marked: 0, medianQueued: 7, meanQueued: 7, finished: 0, seconds: 0 };
  assert.deepEqual(queues(7), one);
  assert.equal(queues(1, 4).medianQueued, 1);
  assert.equal(queues(30, 1, 4).medianQueued, 4);
  assert.equal(queues(9, 1, 2, 4).medianQueued, 2);
  assert.equal(queues(9, 1, 2, 4).meanQueued, 4);
});

test('one stuck backend counts as 10 and three medians', () => {
  assert.equal(queues(1000, 0, 0, 0).meanQueued, 2.5);
  assert.equal(queues(1000, 2, 2, 2).meanQueued, (16 + 6) / 4);
});

test('only fresh samples that count are in it', () => {
  const others = (['worst', 'mean', 'frozen', 'aside', 'removed', 'none'] as const).map((use) => ({
    now: { queued: 99, finished: 99 },
    past: {},
    use,
  }));
  assert.deepEqual(overload([...others, { now: { queued: 3 } }]), {
    members: 6,
    backends: 1,
    marked: 0,
    medianQueued: 3,
    meanQueued: 3,
    finished: 0,
    seconds: 0,
  });
  assert.deepEqual(view(others), { kind: 'unseen' });
  assert.deepEqual(view([]), { kind: 'unseen' });
});

test('one that does not answer for the first time counts by its last sample, and for nothing that finished', () => {
  const silent = { now: { queued: 9, finished: 99 }, past: {}, use: 'last' as const };
  const { backends, medianQueued, meanQueued, finished, seconds } = overload([
    silent,
    { now: { queued: 3 } },
  ]);
  assert.deepEqual([backends, medianQueued, meanQueued, finished, seconds], [2, 3, 6, 0, 0]);
  assert.deepEqual(view([silent]), { kind: 'unseen' });
});

test('those above their mark are counted', () => {
  const memories = [true, false, true].map((saturated) => ({
    ...sampled({ queued: 20 }, 100),
    mark: { ...UNMARKED, saturated },
  }));
  const seen = viewQueues(memories, memories, ['fresh', 'fresh', 'frozen'], 1, false);
  assert.ok(seen.kind === 'queues');
  assert.deepEqual([seen.overload.backends, seen.overload.marked], [2, 1]);
});

test('what was finished, each over the time between its own samples', () => {
  const { finished, seconds } = overload([
    { past: { running: 9, finished: 100 }, now: { running: 9, finished: 105 } },
    { past: { running: 9, finished: 7 }, now: { running: 9, finished: 22 }, seconds: 3 },
  ]);
  assert.deepEqual([finished, seconds], [20, 4]);
});

test('a restart, a first sample and a long silence tell nothing of the rate', () => {
  const { backends, finished, seconds } = overload([
    { past: { running: 9, finished: 100 }, now: { running: 9, finished: 5 } },
    { now: { running: 9, finished: 50 } },
    { past: { running: 9, finished: 0 }, now: { running: 9, finished: 500 }, seconds: 31 },
    { past: { running: 9, finished: 0 }, now: { running: 9, finished: 4 } },
  ]);
  assert.deepEqual([backends, finished, seconds], [4, 4, 1]);
});

test('what was lacking goes on lacking until it is seen: engines that become idle say nothing of it', () => {
  const busy = { now: { queued: 5, finished: undefined } };
  const idle = { now: { finished: undefined } };
  for (const backends of [[busy], [busy, idle], [idle, idle]]) {
    assert.deepEqual(view(backends, true), { kind: 'lacking', metric: 'finished requests' });
  }
  assert.equal(view([busy, { now: { finished: 0 } }], true).kind, 'queues');
});

test('requests that are over within a tenth of a second count, a counter that jumped by far does not', () => {
  const past = { queued: 9, running: 4, finished: 100 };
  const finishedOf = (finished: number) => overload([{ past, now: { ...past, finished } }]).finished;
  assert.equal(finishedOf(140), 40);
  assert.equal(finishedOf(1_000_000), 14 / 0.05);
});

test('what the engines lack', () => {
  const noQueue = { now: { queued: undefined } };
  const noCounter = { now: { queued: 5, finished: undefined } };
  assert.deepEqual(view([noQueue, noQueue]), { kind: 'lacking', metric: 'queued requests' });
  assert.deepEqual(view([noCounter]), { kind: 'lacking', metric: 'finished requests' });
  const idle = { now: { finished: undefined } };
  assert.equal(overload([idle, idle]).seconds, 0, 'no request yet, and so perhaps no counter');
  assert.equal(
    overload([{ now: { queued: 5, finished: undefined } }, idle]).seconds,
    0,
    'one may still get it',
  );
  assert.equal(overload([noQueue, { now: { queued: 4 } }]).backends, 1, 'one that has it is enough');
  assert.equal(overload([noCounter, { now: { queued: 4 } }]).meanQueued, 4.5);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gathering, type GatheringOptions } from '../../../src/collect/gathering.ts';
import { FakeClock } from '../../support/fake-clock.ts';

interface Course {
  /** When it ended, ms after its beginning. */
  readonly endedAtMs: number;
  readonly usualMs: number | undefined;
}

/** One gathering at which answers take so long; negative ones are failures after that time, infinite ones never come. */
async function gather(
  durationsMs: readonly number[],
  options: Partial<GatheringOptions> = {},
  allAskedAfterMs = 0,
): Promise<Course> {
  const clock = new FakeClock(500);
  const gathering = new Gathering({
    clock,
    expected: durationsMs.length,
    limitMs: 500,
    leastMs: 50,
    ...options,
  });
  for (const durationMs of durationsMs) {
    if (!Number.isFinite(durationMs)) continue;
    clock.schedule(Math.abs(durationMs), () => {
      gathering.settled(durationMs < 0 ? undefined : durationMs);
    });
  }
  const cancelAsked = clock.schedule(allAskedAfterMs, () => {
    gathering.allAsked();
  });
  let course: Course | undefined;
  void gathering.end().then(() => {
    cancelAsked();
    course = { endedAtMs: clock.now() - 500, usualMs: gathering.usualMs };
  });
  await clock.advance(5000);
  assert.equal(clock.pending, 0);
  assert.ok(course !== undefined, 'it has ended');
  return course;
}

const NEVER = Number.POSITIVE_INFINITY;

const cases: readonly (readonly [string, readonly number[], number])[] = [
  ['nobody is expected: at once', [], 0],
  ['all answer: with the last', [5, 10, 20], 20],
  ['one of eight hangs: the others take 10 ms, and the least is 50', [10, 10, 10, 10, 10, 10, 10, NEVER], 50],
  ['one of eight hangs: twice what three quarters take', [40, 50, 60, 70, 80, 90, 100, NEVER], 180],
  ['twice what three quarters take is beyond the limit', [300, 300, 300, NEVER], 500],
  ['a slow one within twice the time is waited for', [30, 30, 30, 58], 58],
  ['too few answer to tell what is usual', [10, 10, NEVER, NEVER], 500],
  ['one alone that hangs', [NEVER], 500],
  ['one of two hangs', [10, NEVER], 50],
  ['one of three hangs', [10, 20, NEVER], 50],
  ['failures are answers, and say nothing of how long one takes', [-1, -1, -1, -1, -1, -1, 200, 300], 300],
  ['nobody answers, all fail', [-1, -2, -3], 3],
];
for (const [what, durationsMs, endedAtMs] of cases) {
  test(what, async () => {
    assert.equal((await gather(durationsMs)).endedAtMs, endedAtMs);
  });
}

test('without a least time all are waited for until the limit', async () => {
  assert.equal((await gather([10, 10, 10, 400], { leastMs: undefined })).endedAtMs, 400);
  assert.equal((await gather([10, 10, 10, NEVER], { leastMs: undefined })).endedAtMs, 500);
});

test('those that are asked last have their time from then on', async () => {
  assert.equal((await gather([10, 10, 10, NEVER], {}, 250)).endedAtMs, 300);
});

test('what is usual is known once three quarters of those that do not fail have answered', async () => {
  assert.equal((await gather([10, 20, 30, 40])).usualMs, 30);
  assert.equal((await gather([10, 20, 30, NEVER])).usualMs, 30);
  assert.equal((await gather([10, -1, -1, -1])).usualMs, 10);
  assert.equal((await gather([10, NEVER, NEVER, NEVER])).usualMs, undefined);
  assert.equal((await gather([-1])).usualMs, undefined);
});

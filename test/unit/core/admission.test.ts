import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  type Admission,
  type AdmissionTimes,
  admit,
  disengaged,
  INITIAL_ADMISSION,
  waitOf,
} from '../../../src/core/admission.ts';
import type { Overload } from '../../../src/core/overload.ts';

/** All backends alike: so many queued at each, and so many finished by each in a second. */
function alike(backends: number, queued: number, perSecond: number, seconds = 1): Overload {
  return {
    members: backends,
    backends,
    marked: 0,
    medianQueued: queued,
    meanQueued: queued,
    finished: backends * perSecond * seconds,
    seconds: backends * seconds,
  };
}

function after(overloads: readonly Overload[], intervalSeconds = 1, from = INITIAL_ADMISSION): Admission {
  return overloads.reduce((state, overload) => admit(state, overload, every(intervalSeconds)), from);
}

function every(intervalSeconds: number): AdmissionTimes {
  return { elapsedSeconds: intervalSeconds, intervalSeconds };
}

const times = (count: number, overload: Overload) => Array.from({ length: count }, () => overload);
const rateOf = (state: Admission) => waitOf(state, alike(1, 0, 0)).finishedPerSecond;

interface Course {
  readonly backends: number;
  readonly intervalSeconds: number;
  /** Offered load over what the backends can finish, by the second. */
  readonly load: (second: number) => number;
  readonly seconds: number;
  /** Requests per second and backend. */
  readonly capacity?: number;
}

/**
 * A closed loop without chance: requests flow into equal queues, less the share that is refused, which is known to the
 * sidecars at once; each backend lets out what it can.
 */
function sail({ backends, intervalSeconds, load, seconds, capacity = 5 }: Course) {
  let state = INITIAL_ADMISSION;
  let queued = 0;
  const steps: { readonly second: number; readonly share: number; readonly wait: number }[] = [];
  for (let second = 0; second < seconds; second += intervalSeconds) {
    const inflow = capacity * load(second) * (1 - state.share);
    const finished = Math.min(capacity, inflow + queued / intervalSeconds);
    queued = Math.max(0, queued + (inflow - finished) * intervalSeconds);
    state = admit(state, alike(backends, queued, finished, intervalSeconds), every(intervalSeconds));
    steps.push({ second, share: state.share, wait: queued / capacity });
  }
  return steps;
}

const INTERVALS = [0.25, 1, 5, 15, 50];
const SIZES = [1, 2, 3, 8, 64];

test('off while little queues, whatever the size of the group', () => {
  for (const backends of SIZES) {
    assert.equal(after(times(100, alike(backends, 3, 5))).share, 0, `${backends} backends`);
  }
  for (const intervalSeconds of INTERVALS) {
    const steps = sail({ backends: 8, intervalSeconds, load: () => 0.85, seconds: 600 });
    assert.ok(steps.every(({ share }) => share === 0));
  }
});

test('engaged when the wait is above 0.7 s and 2 s over the number of backends', () => {
  for (const backends of SIZES) {
    const wait = 0.7 + 2 / backends;
    assert.equal(after([alike(backends, 10 * (wait - 0.01), 10)]).engaged, false, `${backends} backends`);
    const engaged = after([alike(backends, 10 * (wait + 0.01), 10)]);
    assert.ok(engaged.engaged && engaged.share > 0.2, `${backends} backends: ${engaged.share}`);
  }
});

test('a long queue at a few backends is no overload', () => {
  const few: Overload = {
    members: 8,
    backends: 8,
    marked: 3,
    medianQueued: 1,
    meanQueued: 13,
    finished: 40,
    seconds: 8,
  };
  assert.equal(after(times(20, few)).share, 0);
});

test('engaged too when more than half are above their marks, however short the wait', () => {
  const fast = { ...alike(4, 12, 20), marked: 2 };
  assert.equal(after([fast]).engaged, false);
  const { engaged, share, sparedUpTo } = after([{ ...fast, marked: 3 }]);
  assert.deepEqual([engaged, sparedUpTo], [true, 36]);
  assert.ok(share > 0.1 && share < 0.3, `${share}`);
  const idle = after([alike(4, 3, 20), { ...alike(4, 0, 20), marked: 4 }]);
  assert.deepEqual(
    [idle.engaged, idle.sparedUpTo],
    [false, undefined],
    'nothing queues: marks by something else',
  );
});

test('marks are spared up to three medians or 20, and not when even the most does not help for a time constant', () => {
  const engaged = after(times(2, alike(4, 12, 8)));
  assert.deepEqual([engaged.share < 0.95, engaged.sparedUpTo], [true, 36]);
  for (const [intervalSeconds, runs] of [
    [1, 5],
    [15, 4],
  ] as const) {
    // the first run only decides: sidecars do not refuse the most before it is over
    const course = times(runs, alike(4, 100, 8, intervalSeconds));
    const started = after(course.slice(1), intervalSeconds);
    assert.deepEqual([started.share, started.sparedUpTo], [0.95, 300], `${intervalSeconds} s`);
    const helpless = after(course, intervalSeconds);
    assert.deepEqual([helpless.share, helpless.sparedUpTo], [0.95, undefined], `${intervalSeconds} s`);
    const relieved = admit(helpless, alike(4, 1, 8, intervalSeconds), every(intervalSeconds));
    assert.ok(relieved.share < 0.95, `${relieved.share}`);
    assert.equal(relieved.sparedUpTo, 20);
  }
});

test('a queue at one backend alone does not hold the share once the others are empty', () => {
  for (const backends of [2, 4, 8, 64]) {
    const overloaded = after(times(30, alike(backends, 10, 5)));
    assert.ok(overloaded.share > 0.9, `${overloaded.share}`);
    const meanQueued = 10 / backends;
    const lone: Overload = {
      members: backends,
      backends,
      marked: 0,
      medianQueued: 0,
      meanQueued,
      finished: 0,
      seconds: backends,
    };
    const { share } = after(times(40, lone), 1, overloaded);
    assert.equal(share, 0, `${backends} backends`);
  }
});

test('a reload that evaluates early moves the share only by the time that has passed', () => {
  const state = after(times(3, alike(4, 8, 5)));
  const step = (elapsedSeconds: number) =>
    admit(state, alike(4, 4, 5), { elapsedSeconds, intervalSeconds: 1 }).integral - state.integral;
  assert.ok(step(1) > 0.01, `${step(1)}`);
  assert.ok(Math.abs(step(0.1) - step(1) / 10) < 1e-12, `${step(0.1)} and ${step(1)}`);
  assert.equal(step(0), 0);
  for (const late of [0.5, 0.9, 1.1, 60]) assert.equal(step(late), step(1), 'counts as an interval');
});

for (const backends of SIZES) {
  for (const intervalSeconds of INTERVALS) {
    test(`${backends} backends, interval ${intervalSeconds} s: the share becomes what is too much`, () => {
      for (const load of [1.2, 1.5, 2, 4]) {
        const seconds = 60 + 60 * intervalSeconds;
        const settled = sail({ backends, intervalSeconds, load: () => load, seconds }).filter(
          ({ second }) => second >= seconds / 2,
        );
        const excess = 1 - 1 / load;
        const shares = settled.map(({ share }) => share);
        const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
        // from 5 s on twice the load is more than the loop can hold still
        const margin = intervalSeconds < 5 ? 0.03 : 0.1;
        assert.ok(Math.abs(mean - excess) < margin, `load ${load}: ${mean} of ${excess}`);
      }
    });
  }
}

test('once settled it stays: neither the share nor the wait swings', () => {
  for (const backends of SIZES) {
    const steps = sail({ backends, intervalSeconds: 1, load: () => 1.5, seconds: 120 });
    for (const { share, wait } of steps.slice(60)) {
      assert.ok(Math.abs(share - 1 / 3) < 0.02, `${backends} backends: ${share}`);
      assert.ok(Math.abs(wait - 0.3) < 0.1, `${backends} backends: ${wait} s`);
    }
  }
});

test('what the waits have added up outlasts an empty queue of a moment', () => {
  const settled = sail({ backends: 8, intervalSeconds: 1, load: () => 1.2, seconds: 120 });
  const share = settled.at(-1)?.share ?? 0;
  assert.ok(Math.abs(share - 1 / 6) < 0.02, `${share}`);
  const state = { ...after(times(3, alike(8, 8, 5))), share, integral: share };
  const empty = admit(state, alike(8, 0, 5), every(1));
  assert.deepEqual([empty.share, empty.engaged, empty.sparedUpTo], [0, true, 20]);
  assert.ok(empty.integral > 0.1, `${empty.integral}`);
  const again = admit(empty, alike(8, 1.5, 5), every(1));
  assert.ok(again.share > 0.1, `${again.share}: as soon as requests queue again, far below 0.95 s`);
  assert.equal(after(times(12, alike(8, 0, 5)), 1, empty).engaged, false);
});

test('while most are above their marks by queues it is not over, however short the wait', () => {
  const marked = { ...alike(4, 12, 80), marked: 3 };
  const short = after(times(60, marked));
  assert.deepEqual([short.share, short.integral, short.engaged, short.sparedUpTo], [0, 0, true, 36]);
  const started = after(times(2, marked), 1, after([{ ...marked, finished: 0, seconds: 0 }]));
  assert.deepEqual(
    [started.share, started.engaged, started.sparedUpTo],
    [0, true, 36],
    'from a start in one',
  );
  const half = admit(short, { ...marked, marked: 2 }, every(1));
  assert.deepEqual([half.engaged, half.sparedUpTo], [false, 36], 'spared once more as it ends');
  const byRunning = admit(short, { ...alike(4, 0, 80), marked: 4 }, every(1));
  assert.equal(byRunning.engaged, false, 'nothing queues');
});

test('the load falls: nothing is refused any more within 15 s, or four intervals', () => {
  for (const intervalSeconds of INTERVALS) {
    const fall = 60 + 60 * intervalSeconds;
    const soon = fall + Math.max(15, 4 * intervalSeconds);
    for (const peak of [1.2, 1.5, 2, 4]) {
      for (const backends of SIZES) {
        const load = (second: number) => (second < fall ? peak : 0.6);
        const steps = sail({ backends, intervalSeconds, load, seconds: soon + 20 * intervalSeconds });
        const late = steps.filter(({ second }) => second > soon);
        assert.notEqual(late.length, 0);
        assert.ok(
          late.every(({ share }) => share === 0),
          `${backends} backends, interval ${intervalSeconds} s, after ${peak}`,
        );
      }
    }
  }
});

test('a rush leaves nothing behind', () => {
  const load = (second: number) => (second >= 30 && second < 33 ? 6 : 0.5);
  const steps = sail({ backends: 4, intervalSeconds: 1, load, seconds: 90 });
  assert.ok(steps.some(({ share }) => share > 0.3));
  assert.ok(steps.filter(({ second }) => second > 50).every(({ share }) => share === 0));
});

test('never above 0.95, never below 0', () => {
  const steps = sail({ backends: 2, intervalSeconds: 1, load: () => 1000, seconds: 60 });
  assert.ok(steps.every(({ share }) => share >= 0 && share <= 0.95));
  assert.equal(steps.at(-1)?.share, 0.95);
  assert.equal(after(times(50, alike(3, 1e9, 0))).share, 0.95, 'a fleet at a standstill');
});

test('the rate begins with the first run that has a queue, not with idle ones', () => {
  const idle = after(times(100, alike(4, 0, 0.1)));
  assert.equal(idle.busy.seconds, 0);
  const busy = admit(idle, alike(4, 3, 8), every(1));
  assert.equal(rateOf(busy), 8);
  assert.equal(busy.share, 0);
  assert.ok(Math.abs(rateOf(after(times(60, alike(4, 3, 4)), 1, busy)) - 4) < 0.02, 'a window of 10 s');
  assert.equal(rateOf(after(times(60, alike(4, 0, 0)), 1, busy)), 8, 'it stands while nothing queues');
});

test('the rate is never below what all runs come to over 10 s', () => {
  const busy = after(times(60, alike(3, 0, 4)));
  assert.equal(busy.busy.seconds, 0, 'nothing has queued');
  const unlucky = admit(busy, alike(3, 4, 0.5), every(1));
  // the first run with a queue finished next to nothing, which alone would be a wait of 8 s
  assert.equal(unlucky.busy.finished / unlucky.busy.seconds, 0.5);
  const kept = Math.exp(-0.1);
  const before = (1 - kept ** 60) / (1 - kept);
  const mean = (4 * before * kept + 0.5) / (before * kept + 1);
  assert.ok(Math.abs(rateOf(unlucky) - mean) < 1e-9, `${rateOf(unlucky)} of ${mean}`);
  assert.equal(unlucky.share, 0);
  assert.ok(
    Math.abs(rateOf(after(times(60, alike(3, 4, 0.5)), 1, unlucky)) - 0.5) < 0.02,
    'but it is forgotten',
  );
});

test('runs that finish little because they are idle do not lower the rate', () => {
  const idle = after([alike(3, 2, 8), ...times(60, alike(3, 0, 0.1))]);
  assert.equal(rateOf(idle), 8);
});

test('runs without any progress leave the rate and decide by what it was', () => {
  const unknown = after([{ ...alike(4, 50, 0), finished: 0, seconds: 0 }]);
  assert.deepEqual(unknown, INITIAL_ADMISSION, 'a queue and no rate yet');
  const marked = after(times(3, { ...alike(4, 50, 0), marked: 3, seconds: 0 }));
  assert.deepEqual([marked.engaged, marked.share, marked.sparedUpTo], [true, 0.5, 150], 'most are marked');
  const begun = admit(marked, alike(4, 5, 10), every(1));
  assert.ok(begun.share > 0.05 && begun.share < 0.2, `then by the wait: ${begun.share}`);
  const begins = { ...alike(4, 50, 0), marked: 4, members: 8, seconds: 0 };
  assert.equal(after([begins]).engaged, false, 'half of the group do not answer');
  const relieved = admit(marked, { ...alike(4, 5, 0), seconds: 0 }, every(1));
  assert.deepEqual(relieved, INITIAL_ADMISSION);
  const known = after([alike(4, 3, 8)]);
  const silent = admit(known, { ...alike(4, 50, 0), finished: 0, seconds: 0 }, every(1));
  assert.equal(rateOf(silent), 8);
  assert.ok(silent.engaged);
});

test('a rate of next to nothing counts as half a request per second', () => {
  assert.equal(rateOf(after([alike(4, 1, 0)])), 0.5);
});

test('disengaged: no share, and the rate is not forgotten', () => {
  const engaged = after(times(5, alike(4, 40, 8)));
  assert.ok(engaged.share > 0);
  const { share, integral, calmSeconds, engaged: still } = disengaged(engaged);
  assert.deepEqual([share, integral, calmSeconds, still], [0, 0, 0, false]);
  assert.equal(rateOf(disengaged(engaged)), 8);
});

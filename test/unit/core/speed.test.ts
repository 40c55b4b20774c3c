import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type BackendMemory, newMemory } from '../../../src/core/memory.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import { progressesOf } from '../../../src/core/progress.ts';
import { initialPaces, observePaces, type Paces, speedsOf } from '../../../src/core/speed.ts';
import { backend } from '../../support/decisions.ts';
import { type Answer, backends, Fleet, one, sampleOf } from '../../support/fleet.ts';
import { random } from '../../support/random.ts';

const all = () => true;
const near = (value: number | undefined, expected: number, within = 1e-9) =>
  assert.ok(Math.abs((value ?? Number.NaN) - expected) <= within, `${value}, not ${expected}`);

function memoryOf(sample: Partial<Sample>, atMs: number): BackendMemory {
  return { ...newMemory(undefined), sample: sampleOf(sample), sampledAtMs: atMs };
}

interface StepOptions {
  readonly seconds?: number;
  readonly counts?: (index: number) => boolean;
  readonly from?: Paces;
  readonly intervalSeconds?: number;
}

/** What is known of one backend after two samples. */
function step(past: Partial<Sample>, present: Partial<Sample>, options: StepOptions = {}): readonly number[] {
  const { seconds = 1, counts = all, from = initialPaces(1), intervalSeconds = 1 } = options;
  const memories = [[memoryOf(past, 0)], [memoryOf(present, 1000 * seconds)]] as const;
  const progresses = progressesOf(...memories, Float64Array.of(1), intervalSeconds);
  const times = { elapsedSeconds: seconds, intervalSeconds };
  const { finished, runningSeconds } = observePaces(from, progresses, counts, times);
  return [...finished, ...runningSeconds];
}

/** Sums as of {@link observePaces}, and backends that have the metrics. */
function speeds(
  sums: readonly (readonly [finished: number, runningSeconds: number])[],
  change: Answer[] = [],
  doubted = new Float64Array(sums.length),
) {
  const paces: Paces = {
    finished: Float64Array.from(sums, ([finished]) => finished),
    runningSeconds: Float64Array.from(sums, ([, seconds]) => seconds),
  };
  const memories = sums.map((_, index) => {
    const answer = change[index];
    return memoryOf(typeof answer === 'object' ? answer : {}, 0);
  });
  return speedsOf(paces, memories, new Float64Array(sums.length).fill(1), doubted);
}

describe('what is added up', () => {
  test('requests finished, and the mean of those running at both ends times the time between', () => {
    assert.deepEqual(
      step({ running: 4, finished: 10 }, { running: 8, finished: 13 }, { seconds: 2 }),
      [3, 12],
    );
  });

  test('queued ones are not running', () => {
    const waiting = { running: 4, queued: 50 };
    assert.deepEqual(step({ ...waiting, finished: 1 }, { ...waiting, finished: 3 }), [2, 4]);
  });

  test('sums fade with a time constant of a minute, from 10 s on of six intervals', () => {
    const from: Paces = { finished: Float64Array.of(100), runningSeconds: Float64Array.of(300) };
    const idle = [{}, {}] as const;
    near(step(...idle, { from, seconds: 60 })[0], 100 / Math.E);
    near(step(...idle, { from, seconds: 60, intervalSeconds: 10 })[1], 300 / Math.E);
    near(step(...idle, { from, seconds: 300, intervalSeconds: 50 })[0], 100 / Math.E);
    near(
      step({ running: 1 }, { running: 1, finished: 5 }, { from, seconds: 1, counts: () => false })[0],
      100 * Math.exp(-1 / 60),
    );
  });

  const busy = { running: 4, finished: 10 };
  for (const [what, past, present] of [
    ['a counter that fell', busy, { running: 4, finished: 3 }],
    ['an idle engine before', { ...busy, running: 0 }, { running: 4, finished: 12 }],
    ['an idle engine after', busy, { running: 0, finished: 12 }],
    ['less than one running', busy, { running: 0.5, finished: 12 }],
    ['no counter', { ...busy, finished: undefined }, { running: 4, finished: 12 }],
    ['no gauge', busy, { running: undefined, queued: 4, finished: 12 }],
  ] as const) {
    test(`${what}: nothing`, () => assert.deepEqual(step(past, present), [0, 0]));
  }

  test('nor over a silence after which nothing stands any more', () => {
    assert.deepEqual(step(busy, { running: 4, finished: 90 }, { seconds: 31 }), [0, 0]);
    assert.deepEqual(step(busy, { running: 4, finished: 90 }, { seconds: 30 }), [80, 120]);
  });

  test('an absurd sample counts as what is credible beside the other', () => {
    for (const absurd of [1e12, Number.MAX_VALUE]) {
      const most = 2 * 4 + 64;
      assert.deepEqual(step(busy, { running: absurd, finished: 12 }), [2, (4 + most) / 2]);
      assert.deepEqual(step({ ...busy, running: absurd }, { running: 4, finished: 12 }), [2, (4 + most) / 2]);
      const [finished = 0, seconds = 0] = step({ running: absurd }, { running: absurd, finished: absurd });
      assert.ok(finished <= 1e7 && seconds <= 1e7, `${finished}, ${seconds}`);
      assert.deepEqual(step(busy, { running: 4, finished: absurd }), [10, 4]);
    }
  });
});

describe('the speed', () => {
  test('by hand', () => {
    const { values, basis } = speeds([
      [200, 400],
      [100, 400],
      [60, 160],
    ]);
    const s = 960 / 360;
    const logs = [
      [200, 400],
      [100, 400],
      [60, 160],
    ].map(([finished = 0, seconds = 0]) => Math.log((finished + 20) / (seconds / s + 20)));
    const mean = (of: readonly number[]) => of.reduce((sum, value) => sum + value, 0) / of.length;
    const centred = logs.map((log) => log - mean(logs));
    const part = 1 - mean([2 / 220, 2 / 120, 2 / 80]) / mean(centred.map((log) => log ** 2));
    const powers = centred.map((log) => Math.exp(part * log));
    for (const [index, power] of powers.entries()) near(values[index], power / mean(powers));
    assert.deepEqual([basis?.backends, basis?.finished, basis?.runningSeconds], [3, 360, 960]);
    near(basis?.secondsPerRequest, s);
    near(basis?.typical, Math.exp(mean(logs)));
    near(basis?.exponent, part);
    near(basis?.meanPower, mean(powers));
    assert.ok(part > 0.5);
  });

  test('1 for all until five for each have finished', () => {
    const few = speeds([
      [9, 10],
      [1, 10],
    ]);
    assert.deepEqual([[...few.values], few.basis], [[1, 1], undefined]);
    assert.notEqual(
      speeds([
        [10, 10],
        [1, 10],
      ]).basis,
      undefined,
    );
    assert.deepEqual([...speeds([]).values], []);
  });

  test('a small difference is chance: exactly 1 for all', () => {
    assert.deepEqual(
      [
        ...speeds([
          [60, 240],
          [64, 240],
        ]).values,
      ],
      [1, 1],
    );
  });

  test('who has no counter or no gauge, or takes no traffic, has 1 and is in no mean', () => {
    const pair = [
      [200, 400],
      [100, 400],
    ] as const;
    const { values } = speeds(pair);
    const sums = [...pair, [900, 10], [900, 10]] as const;
    const lacking = speeds(sums, [{}, {}, { finished: undefined }, { running: undefined }]);
    assert.deepEqual([...lacking.values], [...values, 1, 1]);
    assert.equal(lacking.basis?.backends, 2);
  });

  test('who is doubted is not compared where it seems faster than all', () => {
    const honest = [
      [200, 400],
      [100, 400],
    ] as const;
    const expected = speeds(honest).values;
    const fast = speeds([...honest, [900, 90]], [], Float64Array.of(0, 0, 1));
    assert.deepEqual([...fast.values], [...expected, 1]);
    assert.deepEqual([...fast.compared], [1, 1, 0]);
    const slow = [...honest, [40, 400] as const];
    assert.deepEqual(speeds(slow, [], Float64Array.of(0, 0, 1)), speeds(slow));
  });

  test('0.2 at least, 3 at most, the mean within', () => {
    const fast = [1e6, 1e5] as const;
    const slow = [1e3, 1e6] as const;
    const { values } = speeds([fast, ...Array.from({ length: 9 }, () => slow)]);
    assert.deepEqual([values[0], values[1]], [3, 0.2]);
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.double({ min: 0, max: 1e9, noNaN: true }),
            fc.double({ min: 1e-3, max: 1e9, noNaN: true }),
          ),
          {
            maxLength: 8,
          },
        ),
        (sums) => {
          for (const value of speeds(sums).values) assert.ok(value >= 0.2 && value <= 3);
        },
      ),
    );
  });

  test('in another order the same', () => {
    const sums = [
      [200, 400],
      [100, 400],
      [60, 160],
    ] as const;
    const { values } = speeds(sums);
    const reversed = speeds(sums.toReversed()).values.toReversed();
    for (const [index, value] of values.entries()) near(reversed[index], value);
  });
});

/** How many of a mean of `mean` come by chance (Knuth). */
function poisson(mean: number, next: () => number): number {
  let count = -1;
  for (let left = 1; left > Math.exp(-mean); left *= next()) count++;
  return count;
}

/** Engines that always run so many, and finish by chance at these rates. */
function trace(perSecond: readonly number[], running: number, seed = 7): (step: number) => readonly Answer[] {
  const next = random(seed);
  const finished = perSecond.map(() => 0);
  return (time) =>
    perSecond.map((rate, index) => {
      finished[index] = (finished[index] ?? 0) + poisson(rate, next);
      return { running, kvUtilization: 0.3 + (time % 5) / 100, finished: finished[index] };
    });
}

describe('in a group', () => {
  test('equal backends stay within a few percent, whatever chance does', () => {
    for (let seed = 1; seed <= 5; seed++) {
      const fleet = new Fleet(8);
      const answers = trace(
        Array.from({ length: 8 }, () => 2),
        12,
        seed,
      );
      for (let time = 0; time < 240; time++) {
        for (const { capacity, backend: of } of fleet.step(answers(time)).backends) {
          assert.ok(Math.abs(capacity - 1) < 0.1, `seed ${seed}, ${time} s, ${of.id}: ${capacity}`);
        }
      }
    }
  });

  test('twice the speed is learned to more than 1.7 within a minute, though the load looks the same', () => {
    const decision = new Fleet(4).steps(60, trace([10, 10, 5, 5], 16));
    const capacities = decision.backends.map((of) => of.capacity);
    const [a = 0, b = 0, c = 0, d = 0] = capacities;
    assert.ok((a + b) / (c + d) > 1.7 && (a + b) / (c + d) < 2.05, capacities.join());
    near(a + b + c + d, 4);
    assert.match(
      one(decision, 0).reasons.join(),
      /learned capacity: weight × 1\.\d+ \(residual × 1, speed × 1\.\d+\)/,
    );
  });

  test('an engine that fails every request at once is not fast', () => {
    const answers = trace([10, 10, 10], 16);
    const decision = new Fleet(4).steps(120, (time) => [
      ...answers(time),
      { running: 0, finished: 400 * time },
    ]);
    const failing = one(decision, 3).basis;
    assert.ok(failing.speed < 1.05, `${failing.speed}`);
    assert.deepEqual(failing.pace, { finished: 0, runningSeconds: 0 });
  });

  test('nothing of it under Linear, and it fades without answers', () => {
    const linear = new Fleet(2, { policy: 'Linear' }).steps(60, trace([10, 5], 16));
    assert.deepEqual([one(linear, 0).capacity, linear.basis.speed], [1, undefined]);
    const fleet = new Fleet(2);
    assert.ok(one(fleet.steps(60, trace([10, 5], 16)), 0).capacity > 1.2);
    const blind = fleet.steps(400, ['timeout', 'timeout']);
    assert.ok(one(blind, 0).capacity < 1.05);
    assert.deepEqual([one(blind, 0).basis.capacity, one(blind, 0).weight], [1, 100_000]);
  });

  test('a restart of the engine, and metrics that stay away for a while, change next to nothing', () => {
    const course = (change: (time: number, answer: Answer) => Answer) => {
      const answers = trace([10, 5], 16);
      const decision = new Fleet(2).steps(120, (time) => {
        const [first, second] = answers(time);
        return [change(time, first), second];
      });
      return one(decision, 0).basis.speed;
    };
    const plain = course((_, answer) => answer);
    const restarted = course((time, answer) =>
      typeof answer === 'object' && time >= 60
        ? { ...answer, finished: (answer.finished ?? 0) - 590 }
        : answer,
    );
    near(restarted, plain, 0.03);
    near(
      course((time, answer) => (time % 4 === 1 ? 'timeout' : answer)),
      plain,
      0.03,
    );
  });

  test('it stays with a backend through a reload; who returns after more than a minute begins anew', () => {
    const fleet = new Fleet(2);
    const answers = trace([10, 5], 16);
    const learned = fleet.steps(60, answers);
    fleet.reload([backend(2), backend(1), backend(3)]);
    const [fast, slow] = answers(60);
    const joined = fleet.step([slow, fast, { running: 16, finished: 1000 }]);
    near(
      one(joined, 1).basis.pace?.finished,
      (one(learned, 0).basis.pace?.finished ?? 0) * Math.exp(-1 / 60),
      25,
    );
    assert.ok(one(joined, 1).basis.speed > 1.1 && one(joined, 0).basis.speed < 0.9);
    assert.deepEqual(one(joined, 2).basis.pace, { finished: 0, runningSeconds: 0 });
    fleet.reload(backends(1));
    fleet.steps(61, [fast]);
    fleet.reload(backends(2));
    const returned = fleet.step([fast, slow]);
    assert.deepEqual(one(returned, 1).basis.pace, { finished: 0, runningSeconds: 0 });
  });

  test('a newcomer counts only after its slow start', () => {
    const fleet = new Fleet(2);
    const answers = trace([10, 10, 5], 16);
    fleet.step(answers(0));
    fleet.reload(backends(3));
    const young = fleet.steps(29, answers);
    assert.deepEqual(one(young, 2).basis.pace, { finished: 0, runningSeconds: 0 });
    const old = fleet.steps(60, answers);
    assert.ok((one(old, 2).basis.pace?.finished ?? 0) > 50 && one(old, 2).basis.speed < 0.8);
  });
});

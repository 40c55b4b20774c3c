import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Sample } from '../../../src/core/model/collection.ts';
import { type Answer, Fleet, one, sampleOf } from '../../support/fleet.ts';
import {
  NO_PACE,
  observeBacklog,
  type PromptBacklog,
  promptBasisOf,
  tokensPerSecondOf,
} from '../../../src/core/prompts.ts';

const PACE = 10_000;

interface Step {
  readonly takenIn: number;
  readonly answered: number;
  readonly running?: number;
}

/** One step a second. */
function backlogAfter(
  steps: readonly Step[],
  tokensPerSecond: number | undefined,
): PromptBacklog | undefined {
  let before: Parameters<typeof observeBacklog>[0] = { sample: undefined, prompts: undefined };
  for (const { takenIn, answered, running = 5 } of steps) {
    const sample = sampleOf({ running, prompts: { takenInTokens: takenIn, answeredTokens: answered } });
    before = { sample, prompts: observeBacklog(before, sample, tokensPerSecond, 1) };
  }
  return before.prompts;
}

function tokensAfter(...steps: readonly Step[]): number | undefined {
  return backlogAfter(steps, PACE)?.tokens;
}

/** So many seconds in which the counters stand still. */
function still(seconds: number, step: Step): readonly Step[] {
  return Array.from({ length: seconds }, () => step);
}

const START = { takenIn: 500, answered: 500 };
const SETTLED = Math.exp(-1 / 30);

test('a prompt is inside from the step that begins with it until its first token', () => {
  const inside = { takenIn: 12_500, answered: 500 };
  assert.equal(tokensAfter(START), 0);
  assert.equal(tokensAfter(START, inside), 12_000 * SETTLED);
  assert.equal(tokensAfter(START, inside, { takenIn: 12_700, answered: 12_700 }), 0);
});

test('what is left of a prompt falls at half the pace at least, by what is answered beside it too', () => {
  const inside = { takenIn: 20_500, answered: 500 };
  const leftAfter = (next: Step): number => Math.round(Number(tokensAfter(START, inside, next)));
  const all = Math.round(20_000 * SETTLED ** 2);
  assert.equal(leftAfter(inside), all - 5000);
  assert.equal(leftAfter({ takenIn: 22_500, answered: 2500 }), all - 3000);
  assert.equal(leftAfter({ takenIn: 28_500, answered: 8500 }), all, 'more was answered than that');
});

test('what is inside when a backend is first seen is not known', () => {
  assert.equal(tokensAfter({ takenIn: 90_000, answered: 10_000 }), 0);
});

describe('no backlog is', () => {
  test('what an engine without one of the counters tells', () => {
    const sample = sampleOf({ running: 5 });
    assert.equal(observeBacklog({ sample, prompts: undefined }, sample, PACE, 1), undefined);
  });

  test('what an engine without a prefix cache tells', () => {
    const steps = [0, 4000, 9000].map((answered) => ({ takenIn: 0, answered }));
    assert.equal(backlogAfter(steps, PACE), undefined);
  });

  test('what takes more than 2 s: prompts that are tried again with every step', () => {
    assert.ok(Number(tokensAfter(START, { takenIn: 20_500, answered: 500 })) > 0);
    assert.equal(tokensAfter(START, { takenIn: 21_500, answered: 500 }), 0);
    const steps = Array.from({ length: 20 }, (_, second) => ({
      takenIn: 500 + 8000 * second,
      answered: 500,
    }));
    for (const [second, step] of steps.entries()) {
      const left = Number(tokensAfter(...steps.slice(0, second), step));
      assert.ok(left < 2 * PACE, `${left} tokens after ${second} s`);
    }
  });

  test('what was there before the engine was idle', () => {
    const inside = { takenIn: 12_500, answered: 500 };
    assert.equal(tokensAfter(START, inside, { ...inside, running: 0 }, inside), 0);
  });

  test('what an engine that has restarted begins with', () => {
    assert.equal(tokensAfter({ takenIn: 50_000, answered: 50_000 }, { takenIn: 3000, answered: 1000 }), 0);
  });

  test('a counter that falls, or more that is answered than taken in', () => {
    assert.equal(tokensAfter(START, { takenIn: 12_500, answered: 500 }, { takenIn: 400, answered: 500 }), 0);
    assert.equal(tokensAfter(START, { takenIn: 600, answered: 9_000 }), 0);
  });
});

test('prompts that were cancelled are forgotten within 4 s', () => {
  const cancelled = { takenIn: 19_500, answered: 500 };
  assert.ok(Number(tokensAfter(START, ...still(3, cancelled))) > 0);
  assert.equal(tokensAfter(START, ...still(5, cancelled)), 0);
  assert.deepEqual(backlogAfter([START, ...still(5, cancelled)], PACE), {
    tokens: 0,
    computed: 0,
    settled: 19_000,
  });
});

test('so they are while others are answered as fast as can be', () => {
  const steps = Array.from({ length: 90 }, (_, second) => ({
    takenIn: 19_500 + PACE * second,
    answered: 500 + PACE * second,
  }));
  const left = Number(tokensAfter(START, ...steps));
  assert.ok(left < 0.06 * 19_000, `${left} tokens are left after 90 s`);
});

test('without a pace a backlog is as long as it may be, and stays', () => {
  const inside = { takenIn: 900_500, answered: 500 };
  const left = Number(backlogAfter([START, inside, inside], undefined)?.tokens);
  assert.equal(Math.round(left), Math.round(900_000 * SETTLED ** 2));
});

test('the weight falls with the part of the interval that the prompts take, to a tenth', () => {
  const free = (tokens: number, intervalSeconds: number, lagSeconds = 0): number | undefined =>
    promptBasisOf({ tokens, computed: 0, settled: 0 }, PACE, intervalSeconds, lagSeconds)?.free;
  assert.equal(free(2500, 1), 0.75);
  assert.equal(free(2500, 2), 0.875);
  assert.equal(free(25_000, 1), 0.1);
  assert.equal(free(0, 1), undefined);
  assert.equal(free(25_000, 2.5), undefined, 'all is over before the next weights');
  assert.equal(free(25_000, 1, 1.5), undefined, 'what the page shows is over before it is read');
});

test('nothing is made of prompts before it is known how fast they are computed', () => {
  assert.equal(tokensPerSecondOf({ ...NO_PACE, tokens: 100_000, seconds: 10 }, 1), PACE);
  assert.equal(
    tokensPerSecondOf({ ...NO_PACE, tokens: 100_000, seconds: 10 }, 2),
    2 * PACE,
    'a server of twice the weight',
  );
  assert.equal(tokensPerSecondOf(NO_PACE, 1), undefined);
  assert.equal(tokensPerSecondOf({ ...NO_PACE, tokens: 40_000, seconds: 4 }, 1), undefined);
  assert.equal(
    tokensPerSecondOf({ ...NO_PACE, tokens: 0, seconds: 10 }, 1),
    undefined,
    'nothing is ever answered',
  );
  assert.equal(tokensPerSecondOf({ ...NO_PACE, tokens: 100_000, seconds: 10 }, 0), undefined);
  assert.equal(promptBasisOf({ tokens: 12_000, computed: 0, settled: 0 }, undefined, 1, 0), undefined);
  assert.equal(promptBasisOf(undefined, PACE, 1, 0), undefined);
});

/** Four equal backends; the first has a prompt of 6,000 tokens every other second, which takes it that second. */
function answers(step: number, engines = 4): readonly Answer[] {
  return Array.from({ length: engines }, (_, index) => {
    const answeredTokens = index === 0 ? 6000 * Math.floor((step + 1) / 2) : 0;
    const takenInTokens = index === 0 ? 6000 * Math.floor((step + 2) / 2) : 0;
    return { running: 20, kvUtilization: 0.4, finished: step, prompts: { takenInTokens, answeredTokens } };
  });
}

test('a backend in the middle of a long prompt gets less until it is through', () => {
  const fleet = new Fleet(4);
  fleet.steps(40, answers);
  const busy = one(fleet.step(answers(40)), 0);
  const through = one(fleet.step(answers(41)), 0);
  assert.ok(busy.relativeWeight < 0.35, `${busy.relativeWeight}`);
  assert.ok(through.relativeWeight > 0.95, `${through.relativeWeight}`);
  assert.match(busy.reasons.join(), /^computes prompts for 0\.9\d* s, others wait: weight × 0\.1/);
  assert.deepEqual(through.reasons, []);
});

/**
 * The same, while the others take in 15,000 tokens a second, of which so many were cancelled before their first token, and
 * in each sixth second a prompt of `long` tokens more, which is answered three seconds later.
 */
function withCancelled(step: number, cancelledTokens: number, long: number): readonly Answer[] {
  const takenInTokens = 15_000 * (step + 1) + long * (1 + Math.floor(step / 6));
  const waiting = step % 6 < 3 ? long : 0;
  const prompts = { takenInTokens, answeredTokens: takenInTokens - cancelledTokens - waiting };
  return answers(step).map((answer, index) => (index === 0 ? answer : { ...(answer as object), prompts }));
}

/** What its prompts leave of the first one's weight, second by second. */
function freeWhile(
  seconds: number,
  cancelledTokens: (second: number) => number,
  long = 0,
): readonly number[] {
  const fleet = new Fleet(4);
  return Array.from(
    { length: seconds },
    (_, step) =>
      one(fleet.step(withCancelled(step, cancelledTokens(step), long)), 0).basis.prompts?.free ?? 1,
  );
}

test('prompts count for nothing in the group while more than a fifth of their tokens are never answered', () => {
  const few = freeWhile(99, (second) => 1500 * second);
  const many = freeWhile(99, (second) => 6000 * second);
  assert.ok(Number(few.at(-1)) < 0.6, `${few.at(-1)}`);
  assert.deepEqual(new Set(many.slice(20)), new Set([1]));
});

test('a very long prompt and, later, its answer say nothing of how many are never answered', () => {
  const many = freeWhile(199, (second) => 12_000 * second, 120_000);
  assert.deepEqual(new Set(many.slice(100)), new Set([1]));
});

test('what was never answered is forgotten in a minute or two', () => {
  const free = freeWhile(300, (second) => 6000 * Math.min(second, 99));
  const again = free.findIndex((part, second) => second > 99 && part < 1);
  assert.ok(again > 110 && again < 220, `after ${again} s`);
});

test('with Linear, and for samples that are not fresh, prompts count for nothing', () => {
  const linear = new Fleet(4, { policy: 'Linear' });
  linear.steps(40, answers);
  assert.equal(one(linear.step(answers(40)), 0).relativeWeight, 1);
  const fleet = new Fleet(4);
  fleet.steps(40, answers);
  fleet.step(answers(40));
  const [, ...others] = answers(41);
  const silent = one(fleet.step([undefined, ...others]), 0);
  assert.deepEqual([silent.use, silent.basis.prompts], ['last', undefined]);
});

const counter = fc.oneof(fc.nat({ max: 100_000 }), fc.nat({ max: 10_000_000 }), fc.constantFrom(0, 1e15));
/** A second of three engines: what their counters grow by, or where they begin anew. */
const second = fc.tuple(
  ...[0, 1, 2].map(() =>
    fc.record({
      takenIn: counter,
      answered: counter,
      restarts: fc.boolean(),
      running: fc.nat({ max: 9 }),
      queued: fc.nat({ max: 9 }),
    }),
  ),
);

test('whatever the counters did, no weight suffers 10 s after they stand still', () => {
  fc.assert(
    fc.property(fc.array(second, { minLength: 1, maxLength: 40 }), (seconds) => {
      const fleet = new Fleet(3);
      const counters = [0, 1, 2].map(() => ({ takenInTokens: 0, answeredTokens: 0 }));
      for (const [step, engines] of seconds.entries()) {
        const decision = fleet.step(
          engines.map(({ takenIn, answered, restarts, running, queued }, index) => {
            const of = counters[index]!;
            of.takenInTokens = takenIn + (restarts ? 0 : of.takenInTokens);
            of.answeredTokens = answered + (restarts ? 0 : of.answeredTokens);
            return { running, queued, kvUtilization: 0.5, finished: step, prompts: { ...of } };
          }),
        );
        for (const { basis } of decision.backends) {
          const free = basis.prompts?.free ?? 1;
          assert.ok(free >= 0.1 && free <= 1, `${free}`);
        }
      }
      const after = (step: number): readonly Answer[] =>
        counters.map((of) => ({
          running: 7,
          finished: 100 + step,
          kvUtilization: 0.5,
          prompts: { ...of },
        }));
      // 4 s, and up to 5 more until a pace is known
      const stands = fleet.steps(10, after);
      assert.deepEqual(
        stands.backends.map(({ basis }) => basis.prompts),
        [undefined, undefined, undefined],
      );
    }),
    { seed: 20_260_101, numRuns: 300 },
  );
});

test('an idle engine has no prompts, whatever it said the second before', () => {
  const fleet = new Fleet(4);
  fleet.steps(40, answers);
  assert.ok(one(fleet.step(answers(40)), 0).basis.prompts);
  const idle = answers(40).map((answer) => ({ ...(answer as object), running: 0, finished: 41 }));
  assert.equal(one(fleet.step(idle), 0).basis.prompts, undefined);
});

test('a backend that tries a prompt again and again, and answers what it runs, suffers for the first seconds alone', () => {
  const fleet = new Fleet(4);
  fleet.steps(40, answers);
  const free = Array.from({ length: 30 }, (_, step) => {
    const [first, ...others] = answers(40 + step) as Partial<Sample>[];
    const { takenInTokens = 0, answeredTokens = 0 } = first?.prompts ?? {};
    // 50 steps a second, a prompt of 1,500 tokens
    const prompts = { takenInTokens: takenInTokens + 75_000 * (step + 1), answeredTokens };
    return one(fleet.step([{ ...first, queued: 1, prompts }, ...others]), 0).basis.prompts?.free ?? 1;
  });
  assert.deepEqual(new Set(free), new Set([1]));
});

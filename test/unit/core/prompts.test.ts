import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { type Answer, Fleet, one, sampleOf } from '../../support/fleet.ts';
import { NO_PACE, observeBacklog, type PromptBacklog, promptBasisOf } from '../../../src/core/prompts.ts';

const PACE = { tokens: 100_000, seconds: 10 };

function backlogAfter(
  steps: readonly { takenIn: number; answered: number; running?: number }[],
): PromptBacklog | undefined {
  let before: { sample: ReturnType<typeof sampleOf> | undefined; prompts: PromptBacklog | undefined } = {
    sample: undefined,
    prompts: undefined,
  };
  for (const { takenIn, answered, running = 5 } of steps) {
    const sample = sampleOf({ running, prompts: { takenInTokens: takenIn, answeredTokens: answered } });
    before = { sample, prompts: observeBacklog(before, sample, 1) };
  }
  return before.prompts;
}

test('a prompt is inside from the step that begins with it until its first token', () => {
  const steps = [
    { takenIn: 500, answered: 500 },
    { takenIn: 12_500, answered: 500 },
    { takenIn: 12_700, answered: 12_700 },
  ];
  assert.equal(backlogAfter(steps.slice(0, 1))?.tokens, 0);
  assert.equal(backlogAfter(steps.slice(0, 2))?.tokens, 12_000 * Math.exp(-1 / 30));
  assert.equal(backlogAfter(steps)?.tokens, 0);
});

test('what is inside when a backend is first seen is not known', () => {
  assert.equal(backlogAfter([{ takenIn: 90_000, answered: 10_000 }])?.tokens, 0);
});

test('an engine that has only one of the counters, or none, tells nothing', () => {
  const sample = sampleOf({ running: 5 });
  assert.equal(observeBacklog({ sample, prompts: undefined }, sample, 1), undefined);
});

test('prompts that were cancelled stay in the difference and are forgotten', () => {
  const cancelled = { takenIn: 40_000, answered: 10_000 };
  const start = { takenIn: 10_000, answered: 10_000 };
  const later = Array.from({ length: 90 }, () => cancelled);
  const left = backlogAfter([start, ...later])?.tokens ?? Number.NaN;
  assert.ok(left < 0.06 * 30_000, `${left} tokens are left after 90 s`);
  assert.equal(backlogAfter([start, cancelled, { ...cancelled, running: 0 }, cancelled])?.tokens, 0);
});

test('an engine that has restarted begins anew', () => {
  const steps = [
    { takenIn: 50_000, answered: 50_000 },
    { takenIn: 3000, answered: 1000 },
  ];
  assert.equal(backlogAfter(steps)?.tokens, 0);
});

test('the weight falls with the part of the interval that the prompts take, to a tenth', () => {
  const free = (tokens: number, intervalSeconds: number, share = 1): number | undefined =>
    promptBasisOf({ tokens, settled: 0 }, share, PACE, intervalSeconds)?.free;
  assert.equal(free(2500, 1), 0.75);
  assert.equal(free(2500, 5), 0.95);
  assert.equal(free(50_000, 1), 0.1);
  assert.equal(free(5000, 1, 2), 0.75, 'a server of twice the weight computes twice as fast');
  assert.equal(free(0, 1), undefined);
});

test('nothing is made of prompts before it is known how fast they are computed', () => {
  const backlog = { tokens: 12_000, settled: 0 };
  assert.equal(promptBasisOf(backlog, 1, NO_PACE, 1), undefined);
  assert.equal(promptBasisOf(backlog, 1, { tokens: 40_000, seconds: 4 }, 1), undefined);
  assert.equal(promptBasisOf(undefined, 1, PACE, 1), undefined);
  const stuck = promptBasisOf(backlog, 1, { tokens: 0, seconds: 10 }, 1);
  assert.deepEqual([stuck?.seconds, stuck?.free], [3600, 0.1]);
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

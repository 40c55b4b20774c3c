import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DecisionExplanation, GroupExplanation } from '../../../src/admin/explanation.ts';
import { explainText } from '../../../src/commands/explain-text.ts';
import { wrongInExplanation } from '../../../src/commands/explanation-shape.ts';
import type { PolicyName } from '../../../src/core/model/balance-settings.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backend } from '../../support/decisions.ts';
import { explanationAfter, explanationOf } from '../../support/explanations.ts';
import { type Answer, Fleet, type FleetOptions, PROPORTIONAL } from '../../support/fleet.ts';
import { weightsByHand } from '../../support/weight-by-hand.ts';

/** Asserts that every weight is what comes out by hand, and that what is published is within the dither of it. */
function assertByHand(explanation: GroupExplanation): void {
  assertDecisionByHand(explanation.published.decision);
  const { decision } = explanation.published;
  // while observed, a weight is of an earlier evaluation where the shares have moved too little since
  if (decision.observing) return;
  const single = decision.backends.filter(({ weight }) => weight > 0).length === 1;
  for (const { backend: id, weight, unditheredWeight } of decision.backends) {
    const allowed = single ? 1000 : 0.001 * unditheredWeight + 1;
    assert.ok(Math.abs(weight - unditheredWeight) <= allowed, `${id}: ${weight}, ${unditheredWeight}`);
  }
  if (explanation.newest !== null) assertDecisionByHand(explanation.newest.decision);
}

function assertDecisionByHand(decision: DecisionExplanation): void {
  const byHand = weightsByHand(decision);
  for (const { backend: id, unditheredWeight } of decision.backends) {
    const expected = byHand.get(id) ?? 0;
    assert.ok(
      Math.abs(unditheredWeight - expected) <= 1e-6 * expected,
      `${id}: ${unditheredWeight}, by hand ${expected}`,
    );
  }
}

const answer: fc.Arbitrary<Answer> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      queued: fc.nat({ max: 15 }),
      running: fc.nat({ max: 64 }),
      kvUtilization: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
      finished: fc.nat({ max: 1000 }),
      prompts: fc.option(
        fc.record({ takenInTokens: fc.nat({ max: 50_000 }), answeredTokens: fc.nat({ max: 50_000 }) }),
        { nil: undefined },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ queued: 0, running: 4, kvUtilization: 0.5, finished: 7 }) },
  { weight: 1, arbitrary: fc.constantFrom<Answer>('timeout', 'refused', undefined) },
  { weight: 1, arbitrary: fc.constant({ queued: undefined, running: 9, finished: 3 }) },
);

const options: fc.Arbitrary<FleetOptions> = fc.record({
  policy: fc.constantFrom<PolicyName>('Adaptive', 'Linear'),
  envoyLbPolicy: fc.constantFrom('LeastRequest', 'RoundRobin'),
  mode: fc.constantFrom('Active', 'Active', 'Observe'),
  onCollectFailure: fc.constantFrom('Keep', 'Remove'),
  intervalSeconds: fc.constantFrom(1, 5, 15),
  delaySeconds: fc.double({ min: 0.1, max: 2, noNaN: true }),
});

test('whatever happens, every weight can be computed by hand from what is told', () => {
  fc.assert(
    fc.property(
      options,
      fc.array(fc.constantFrom(0, 50, 100, 100), { minLength: 1, maxLength: 6 }),
      fc.array(fc.array(answer, { minLength: 8, maxLength: 8 }), { minLength: 1, maxLength: 8 }),
      fc.nat({ max: 12 }),
      (settings, weights, runs, repeat) => {
        const servers = weights.map((weight, i) => backend(i + 1, { weight }));
        const fleet = new Fleet(servers, settings);
        const decisions: GroupDecision[] = [];
        for (const answers of runs) {
          decisions.push(fleet.step(answers));
          assertByHand(explanationAfter(decisions));
        }
        // two join, and the last answers come again until gauges that stand still count as frozen
        fleet.reload([...servers, backend(20), backend(21, { weight: 50 })]);
        for (let i = 0; i < repeat; i++) {
          decisions.push(fleet.step([...(runs.at(-1) ?? []), { running: i }]));
          const explanation = explanationAfter(decisions);
          assertByHand(explanation);
          assert.equal(wrongInExplanation(explanation), undefined);
          assert.doesNotMatch(
            explainText(explanation, { full: true, color: false, columns: undefined }),
            /NaN|undefined|Infinity/,
          );
        }
      },
    ),
    { numRuns: 120, seed: 5 },
  );
});

test('weights that are equal, as what is known is old, are told as such', () => {
  const fleet = new Fleet(3, { envoyLbPolicy: 'LeastRequest', intervalSeconds: 15 });
  const explanation = explanationAfter([fleet.step([{ running: 40 }, { running: 30 }, { running: 31 }])]);
  assert.equal(explanation.published.decision.equalWeights, true);
  assertByHand(explanation);
  const text = explainText(explanation, { full: true, color: false, columns: undefined });
  assert.match(text, /nothing else tells the backends apart: all weights are equal/);
  assert.match(text, /Weight: 1, as all of them; over the mean of all, 1, × 100,?000 = 100,?000\./);
});

/** The share that sidecars are to refuse, as its documentation has it; undefined: it was not computed. */
function shareByHand({ admission: { control, figures } }: DecisionExplanation): number | undefined {
  if (control === null || figures === null) return undefined;
  const { waitSeconds, elapsedSeconds, timeConstantSeconds: tau, keptRatio, previousRatio } = control;
  const excess = waitSeconds / figures.targetSeconds - 1;
  const within = (share: number) => Math.min(0.95, Math.max(0, share));
  const growth = Math.min(((0.45 * elapsedSeconds) / tau ** 2) * excess, 0.085 * elapsedSeconds);
  const share = within(within(previousRatio * keptRatio + growth) + (0.6 / tau) * excess);
  return share < 0.02 ? 0 : share;
}

/** What is said of a backend that is above its mark and not kept from requests must be so. */
function assertMarkReason(text: string, decision: DecisionExplanation): void {
  for (const { backend: id, mark, saturated, frozen, health, sampleUse } of decision.backends) {
    if (mark === null || saturated || frozen || health === null) continue;
    const lines = text.split(`\n${id}: `)[1]?.split('\n\n')[0] ?? assert.fail(`${id} is missing`);
    const answered = sampleUse === 'fresh' || sampleUse === 'last';
    const spared =
      / (a share of all requests is refused instead|the overload has just ended), and no more than /;
    assert.match(lines, answered ? spared : /not kept from requests: /);
    if (/this one gives none/.test(lines)) assert.ok(!answered && sampleUse !== 'none', lines);
  }
}

test('in overload the share can be computed by hand, and what is said of marks is so', () => {
  const queues = fc.array(
    fc.oneof(answer, fc.record({ queued: fc.nat({ max: 60 }), running: fc.nat({ max: 64 }) })),
    {
      minLength: 4,
      maxLength: 4,
    },
  );
  let computed = 0;
  let marked = 0;
  fc.assert(
    fc.property(
      fc.array(queues, { minLength: 4, maxLength: 20 }),
      fc.constantFrom(0.25, 1, 5),
      fc.constantFrom('Keep', 'Remove'),
      (rounds, intervalSeconds, onCollectFailure) => {
        const saturation = { ...PROPORTIONAL, runningRequests: { mark: 60, clear: 50 } };
        const fleet = new Fleet(4, { intervalSeconds, onCollectFailure, saturation });
        for (const [step, round] of rounds.entries()) {
          const decision = fleet.step(
            round.map((of) => (typeof of === 'object' ? { ...of, finished: 9 * step } : of)),
          );
          const explanation = explanationOf(decision);
          assert.equal(wrongInExplanation(explanation), undefined);
          const { decision: told } = explanation.published;
          const share = shareByHand(told);
          if (share !== undefined) {
            assert.ok(Math.abs(share - told.admission.computedShareRatio) < 1e-9);
            computed++;
          }
          if (told.backends.some(({ mark, saturated }) => mark !== null && !saturated)) marked++;
          assertMarkReason(explainText(explanation, { full: true, color: false, columns: undefined }), told);
        }
      },
    ),
    { numRuns: 60, seed: 7 },
  );
  assert.ok(
    computed > 50 && marked > 50,
    `${computed} shares, ${marked} decisions with marks that are spared`,
  );
});

test('in an overload of which nothing is refused now, that and the next share can be computed by hand', () => {
  const fleet = new Fleet(8, { saturation: PROPORTIONAL });
  const told = [4, 4, 2, 0, 0, 2].map((queued, step) => {
    const gauges = { queued, running: 8, kvUtilization: 0.5 + step / 100, finished: 4 * step };
    const explanation = explanationOf(fleet.step(Array.from({ length: 8 }, () => gauges)));
    assert.equal(wrongInExplanation(explanation), undefined);
    return explanation.published.decision;
  });
  const engaged = told.filter(({ admission }) => admission.kind === 'engaged');
  assert.equal(engaged.length, 2);
  for (const decision of engaged) {
    assert.equal(shareByHand(decision), 0);
    assert.equal(decision.admission.computedShareRatio, 0);
    assert.ok((decision.admission.control?.integralRatio ?? 0) >= 0.02);
  }
  const [before, again] = told.slice(-2).map(({ admission }) => admission);
  assert.equal(again?.kind, 'shedding');
  assert.equal(again?.control?.previousRatio, before?.control?.integralRatio);
  const { waitSeconds = 1, engagedAboveSeconds = 0 } = again?.figures ?? {};
  assert.ok(waitSeconds < engagedAboveSeconds, 'no wait at which an overload begins');
});

test('observed: the newest evaluation alone, whatever moved since the weights went out', () => {
  const fleet = new Fleet(3, { mode: 'Observe' });
  const decisions: GroupDecision[] = [];
  let stood = 0;
  for (let step = 0; step < 80; step++) {
    decisions.push(
      fleet.step(
        [4, 5, 7].map((running, i) => ({ running: running + ((step * (i + 3)) % 3), finished: step })),
      ),
    );
    const explanation = explanationAfter(decisions);
    assertByHand(explanation);
    const { backends, observing } = explanation.published.decision;
    assert.ok(observing);
    assert.deepEqual(
      backends.map(({ sample, weight }) => [sample?.runningRequests, weight]),
      decisions.at(-1)?.backends.map(({ sample, weight }) => [sample?.running, weight]),
    );
    const text = explainText(explanation, { full: true, color: false, columns: undefined });
    for (const [, shift = ''] of text.matchAll(/dithered by [+-]([\d.e-]+) %/g))
      assert.ok(Number(shift) <= 0.13, text);
    stood += text.match(/ now; [\d,]+ would stand from an earlier evaluation/g)?.length ?? 0;
  }
  assert.ok(stood > 0, 'the test would see it');
});

test('observed: a learned capacity that stands still is said to', () => {
  const answers = (step: number): readonly Answer[] => [
    { running: 30, finished: step },
    { running: 10, finished: step },
  ];
  const fleet = new Fleet(2);
  fleet.steps(120, answers);
  fleet.reload(fleet.servers, { mode: 'Observe' });
  const text = explainText(explanationOf(fleet.step(answers(120))), {
    full: true,
    color: false,
    columns: undefined,
  });
  assert.match(text, /Learned capacity: [\d.]+ residual, which stands still while observed, × [\d.]+ speed/);
  const uncounted = (step: number): readonly Answer[] =>
    answers(step).map((of) =>
      typeof of === 'object' ? { ...of, kvUtilization: step / 1000, finished: undefined } : of,
    );
  const other = new Fleet(2);
  other.steps(120, uncounted);
  other.reload(other.servers, { mode: 'Observe' });
  const still = explainText(explanationOf(other.step(uncounted(120))), {
    full: true,
    color: false,
    columns: undefined,
  });
  assert.match(still, /Learned capacity: [\d.]+, it stands still while observed\./);
});

test('a mark tells what set it and when', () => {
  const fleet = new Fleet(3);
  fleet.step([{ queued: 14, finished: 1 }, { running: 1 }, { kvUtilization: 0.99, queued: 4 }]);
  const decision = fleet.step([
    { queued: 5, finished: 2 },
    { running: 2 },
    { kvUtilization: 0.5, queued: 5 },
  ]);
  const { backends } = explanationOf(decision).published.decision;
  assert.deepEqual(
    backends.map(({ mark }) => mark),
    [
      { metric: 'TotalQueuedRequests', value: 14, mark: 10, queuedRequests: 14, ageSeconds: 1 },
      null,
      { metric: 'KVCacheUtilization', value: 0.99, mark: 0.98, queuedRequests: 4, ageSeconds: 1 },
    ],
  );
});

test('what the newest evaluation would move is told beside what is published', () => {
  const fleet = new Fleet(2);
  const published = fleet.step([{ running: 30 }, { running: 10, finished: 1 }]);
  const newest = fleet.step([
    { running: 30, finished: 1 },
    { running: 10, finished: 2 },
  ]);
  assert.deepEqual([published.publish, newest.publish], ['first', undefined]);
  const explanation = explanationOf(published, newest);
  const { published: told, newest: newer } = explanation;
  assert.ok(newer !== null && newer.movedShareRatio > 0 && newer.movedShareRatio < 0.02);
  assert.deepEqual([told.ageSeconds, told.firstAcknowledgementSeconds], [1.398, 0.012]);
  assert.equal(told.decision.backends[0]?.weight, published.backends[0]?.weight);
  assert.notEqual(newer.decision.backends[0]?.capacity, told.decision.backends[0]?.capacity);
  assert.equal(explanationOf(published).newest, null);
});

test('of a backend that gives no metrics the newest count stands beside that of what is published', () => {
  const fleet = new Fleet(2);
  const published = fleet.step(['refused', 'refused']);
  const sentence = (newest: GroupDecision): string | undefined =>
    explainText(explanationOf(published, newest), { full: true, color: false, columns: undefined })
      .split('\n')
      .find((line) => line.includes('Never sampled'));
  assert.equal(sentence(published), '  Never sampled, and it gave no metrics in 1 collection (refused).');
  const [, newest] = [0, 1].map(() => fleet.step(['refused', 'refused']));
  assert.ok(newest !== undefined && newest.publish === undefined);
  assert.equal(
    sentence(newest),
    '  Never sampled, and it gave no metrics in 1 collection before it was published (refused), 3 by now.',
  );
});

test('a learned capacity that the weights do not use is not told as one', () => {
  const fleet = new Fleet(2);
  fleet.steps(40, (step) => [
    { running: 30, finished: step },
    { running: 10, finished: step },
  ]);
  const blind = fleet.steps(40, ['timeout', 'timeout']);
  assert.equal(blind.mode, 'configured');
  assert.notEqual(blind.backends[0]?.capacity, 1);
  const [first] = explanationOf(blind).published.decision.backends;
  assert.deepEqual([first?.capacity, first?.weight], [1, 100_000]);
  assert.doesNotMatch(first?.reasons.join() ?? '', /capacity/);
});

test('what prompts leave of a weight is told, and can be computed by hand', () => {
  const fleet = new Fleet(2);
  const decisions = Array.from({ length: 42 }, (_, step) => {
    // the second one computes a prompt of 6,000 tokens every other second
    const prompts = {
      takenInTokens: 6000 * Math.floor((step + 1) / 2),
      answeredTokens: 6000 * Math.floor(step / 2),
    };
    const values = { running: 20, kvUtilization: 0.4, finished: step };
    return fleet.step([values, { ...values, prompts }]);
  });
  const explanation = explanationAfter(decisions);
  assertByHand(explanation);
  assert.equal(wrongInExplanation(explanation), undefined);
  const [idle, busy] = explanation.published.decision.backends;
  assert.equal(idle?.prompts, null);
  assert.ok(busy?.prompts && busy.prompts.tokens > 5000 && busy.prompts.freeRatio < 0.2);
  const text = explainText(explanation, { full: true, color: false, columns: undefined });
  assert.match(
    text,
    /Prompts: [\d,]+ tokens left of prompts without a first token \/ [\d,]+ a second = [\d.]+ s; 1 - /,
  );
  assert.match(text, /× 1 for load × 0\.1\d* beside its prompts = 0\.1/);
});

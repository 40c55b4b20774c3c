import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupExplanation } from '../../../src/admin/explanation.ts';
import { explainText } from '../../../src/commands/explain-text.ts';
import { evaluatePlain } from '../../../src/core/evaluate.ts';
import { serverGroup } from '../../support/configuration.ts';
import { backend } from '../../support/decisions.ts';
import { explanationAfter, explanationOf } from '../../support/explanations.ts';
import { type Answer, backends, Fleet } from '../../support/fleet.ts';
import { assertGolden } from '../../support/golden.ts';

const PLAIN = { full: false, color: false } as const;

function busy(step: number, running: number, queued = 0, kvUtilization = running / 64): Answer {
  return { running, queued, kvUtilization, finished: 4 * step };
}

test('Adaptive: every kind of backend, and a newer evaluation', () => {
  const servers = [
    backend(11),
    backend(12),
    backend(13),
    backend(14, { weight: 50 }),
    backend(15, { weight: 0 }),
    backend(16),
    backend(17),
  ];
  const fleet = new Fleet(servers.slice(0, -1), { envoyLbPolicy: 'LeastRequest' });
  const answers = (step: number): readonly Answer[] => [
    busy(step, 30, 1),
    busy(step, 34),
    busy(step, 40, step < 30 ? 3 : 14),
    busy(step, 12),
    busy(step, 3),
    step > 28 ? 'timeout' : busy(step, 22),
  ];
  fleet.steps(30, answers);
  fleet.reload(servers);
  fleet.steps(11, (step) => [...answers(30 + step), busy(step, 9)]);
  const published = fleet.step([...answers(41), busy(11, 10)]);
  assert.notEqual(published.publish, undefined);
  const newest = fleet.step([...answers(42), busy(12, 10)]);
  assertGolden('explain/adaptive.txt', explainText(explanationOf(published, newest), PLAIN));
});

test('Linear', () => {
  const fleet = new Fleet(3, { policy: 'Linear', delaySeconds: 0.08 });
  const explanation = explanationOf(fleet.step([busy(1, 30, 4), busy(1, 26), busy(1, 60)]));
  assertGolden('explain/linear.txt', explainText(explanation, PLAIN));
});

test('gauges that stand still: a trickle', () => {
  const fleet = new Fleet(3);
  const decisions = Array.from({ length: 12 }, (_, step) =>
    fleet.step([busy(step, 30), busy(step, 26), busy(1, 28)]),
  );
  assertGolden('explain/frozen.txt', explainText(explanationAfter(decisions), PLAIN));
});

test('nobody answers: what was published stands', () => {
  const fleet = new Fleet(2);
  const published = fleet.step([busy(1, 30), busy(1, 20)]);
  const silent = fleet.step(['refused', 'timeout']);
  assertGolden('explain/kept.txt', explainText(explanationOf(published, silent), PLAIN));
});

test('configured weights', () => {
  const decision = evaluatePlain(
    serverGroup('llama', { servers: [backend(11), backend(12, { weight: 50 })] }),
    0,
  );
  assertGolden('explain/configured.txt', explainText(explanationOf(decision), PLAIN));
});

test('more than sixteen backends get a line each, unless all is asked for', () => {
  const fleet = new Fleet(backends(17));
  const answers = Array.from({ length: 17 }, (_, i) =>
    i === 3 ? 'timeout' : busy(1, 20 + i, i === 16 ? 12 : 0),
  );
  const explanation = explanationOf(fleet.step(answers));
  assertGolden('explain/many.txt', explainText(explanation, PLAIN));
  assert.match(explainText(explanation, { ...PLAIN, full: true }), /10\.0\.3\.9:8000: HEALTHY.*\n {2}Sample/);
});

/** The explanation with another admission. */
function withAdmission(admission: Partial<GroupExplanation['published']['decision']['admission']>) {
  const { published, ...rest } = explanationOf(new Fleet(2).step([{}, {}]));
  const { decision } = published;
  return {
    ...rest,
    published: {
      ...published,
      decision: { ...decision, admission: { ...decision.admission, ...admission } },
    },
  };
}

test('the share that sidecars refuse, and why', () => {
  const figures = {
    backends: 2,
    markedBackends: 1,
    medianQueuedRequests: 9,
    meanQueuedRequests: 9.5,
    finishedPerSecond: 5,
    waitSeconds: 1.9,
    medianWaitSeconds: 3.6,
    engagedAboveSeconds: 1.7,
    targetSeconds: 0.3,
  };
  const shares = { publishedShareRatio: 0.234, computedShareRatio: 0.2361 };
  const texts = [
    withAdmission({ kind: 'shedding', ...shares, figures }),
    withAdmission({ kind: 'off', figures }),
    withAdmission({ kind: 'unavailable', reason: 'no finished counter' }),
  ].map((explanation) => explainText(explanation, PLAIN));
  const admission = texts.flatMap((text) => text.match(/^Admission.*\n(?: {2}.*\n)?/gm) ?? []);
  assertGolden('explain/admission.txt', admission.join(''));
});

test('colour: headings, warnings, and what is unhealthy', () => {
  const decision = new Fleet(2).step([{ queued: 20 }, { queued: 20 }]);
  const text = explainText(explanationOf(decision), { full: false, color: true });
  assert.match(text, /^\u001b\[1mllama: .*\u001b\[0m$/m);
  assert.match(text, /^\u001b\[33mWarning: every backend is saturated.*\u001b\[0m$/m);
  assert.match(text, /^\u001b\[31m10\.0\.3\.1:8000: UNHEALTHY.*\u001b\[0m$/m);
  assert.doesNotMatch(explainText(explanationOf(decision), PLAIN), /\u001b/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupExplanation } from '../../../src/admin/explanation.ts';
import { explainText } from '../../../src/commands/explain-text.ts';
import { evaluatePlain } from '../../../src/core/evaluate.ts';
import { serverGroup } from '../../support/configuration.ts';
import { backend } from '../../support/decisions.ts';
import { explanationAfter, explanationOf } from '../../support/explanations.ts';
import { type Answer, backends, Fleet, PROPORTIONAL } from '../../support/fleet.ts';
import { assertGolden } from '../../support/golden.ts';

const PLAIN = { full: false, color: false, columns: undefined } as const;

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

test('Observe: what sidecars have, and what they would have', () => {
  const saturation = PROPORTIONAL;
  const fleet = new Fleet(3, { mode: 'Observe', saturation });
  const decisions = Array.from({ length: 20 }, (_, step) =>
    fleet.step([busy(step, 30, 12), busy(step, 26, 9), busy(step, 28, 8)]),
  );
  assertGolden('explain/observed.txt', explainText(explanationAfter(decisions), PLAIN));
});

test('gauges that show requests late', () => {
  const { published, ...rest } = explanationOf(new Fleet(2).step([busy(1, 30), busy(1, 20)]));
  const gain = { ...published.decision.gain!, lagSeconds: 3 };
  const text = explainText(
    { ...rest, published: { ...published, decision: { ...published.decision, gain } } },
    PLAIN,
  );
  assert.match(text, /A sample is 7.1 s old .* \(Interval 1 s \+ delay 0.1 s \+ twice a lag of 3 s\),$/m);
  assert.match(text, /^  as requests show in the metrics only so long after weights sent them,$/m);
});

test('gauges that stand still: a trickle', () => {
  const fleet = new Fleet(3);
  const decisions = Array.from({ length: 12 }, (_, step) =>
    fleet.step([busy(step, 30), busy(step, 26), busy(1, 28)]),
  );
  assertGolden('explain/frozen.txt', explainText(explanationAfter(decisions), PLAIN));
});

test('an engine sleeps: out of the assignment', () => {
  const fleet = new Fleet(3);
  fleet.step([busy(1, 30), busy(1, 20), busy(1, 25)]);
  const decision = fleet.step([busy(2, 30), busy(2, 20), 'asleep']);
  assertGolden('explain/asleep.txt', explainText(explanationOf(decision), PLAIN));
});

test('nobody answers: what was published stands', () => {
  const fleet = new Fleet(2);
  const published = fleet.step([busy(1, 30), busy(1, 20)]);
  const silent = fleet.step(['refused', 'timeout']);
  assertGolden('explain/kept.txt', explainText(explanationOf(published, silent), PLAIN));
});

const MARKS = { ...PROPORTIONAL, runningRequests: { mark: 60, clear: 50 } };

test('an overload: why a backend above its mark is kept from requests, and why not', () => {
  const servers = [11, 12, 13, 14, 15].map((n) => backend(n));
  const fleet = new Fleet([...servers, backend(16, { weight: 0 })], { saturation: MARKS });
  const answers = (step: number): readonly Answer[] => [
    busy(step, 40, 12),
    busy(step, 40, 13),
    busy(step, 40, 80),
    busy(step, 62, 13),
    step > 2 ? 'timeout' : busy(step, 40, 14),
    busy(step, 3, 12),
  ];
  const decisions = Array.from({ length: 5 }, (_, step) => fleet.step(answers(step)));
  assertGolden('explain/shedding.txt', explainText(explanationAfter(decisions), PLAIN));
});

test('above the mark and not kept out because nobody answers', () => {
  const fleet = new Fleet(2, { saturation: PROPORTIONAL });
  const servers = fleet.servers;
  fleet.steps(3, (step) => [busy(step, 30, 12), busy(step, 30, 12)]);
  const silent = fleet.step(['timeout', 'timeout']);
  const kept = explainText(explanationOf(silent), PLAIN);
  assert.match(
    kept,
    /not kept from requests: nobody gives metrics, so that what was published before stands/,
  );
  assert.match(kept, /^Admission: .*: no sample counts, so that it stands as it was\)/m);
  fleet.reload(servers, { saturation: PROPORTIONAL, onCollectFailure: 'Remove' });
  const blind = explainText(explanationOf(fleet.step(['timeout', 'timeout'])), PLAIN);
  assert.match(blind, /not kept from requests: nobody gives metrics, so that configured weights hold/);
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
  const control = {
    waitSeconds: 1.9,
    elapsedSeconds: 1,
    timeConstantSeconds: 4,
    calmSeconds: 0,
    keptRatio: 1,
    previousRatio: 0.01,
    integralRatio: 0.095,
  };
  const shares = { publishedShareRatio: 0.897, computedShareRatio: 0.895 };
  const calm = {
    waitSeconds: 0,
    calmSeconds: 4,
    keptRatio: 0.9048,
    previousRatio: 0.4,
    integralRatio: 0.333795,
  };
  const texts = [
    withAdmission({ kind: 'shedding', ...shares, figures, control, sparedUpToRequests: 27 }),
    withAdmission({
      kind: 'shedding',
      publishedShareRatio: 0.184,
      computedShareRatio: 0.183795,
      figures: { ...figures, medianQueuedRequests: 0, medianWaitSeconds: 0 },
      control: { ...control, ...calm },
      sparedUpToRequests: 20,
    }),
    withAdmission({
      kind: 'shedding',
      publishedShareRatio: 0.5,
      computedShareRatio: 0.5,
      reason: 'most backends are above their marks, and how fast they serve is not known yet',
      sparedUpToRequests: 36,
    }),
    withAdmission({ kind: 'shedding', publishedShareRatio: 0.95, computedShareRatio: 0.95 }),
    withAdmission({ kind: 'off', figures }),
    withAdmission({
      kind: 'engaged',
      figures: {
        ...figures,
        medianQueuedRequests: 1,
        meanQueuedRequests: 1,
        waitSeconds: 0.2,
        medianWaitSeconds: 0.4,
      },
      control: { ...control, waitSeconds: 0.2, previousRatio: 0.06, integralRatio: 0.050625 },
      sparedUpToRequests: 20,
    }),
    withAdmission({ kind: 'engaged', reason: 'no sample counts, so that it stands as it was' }),
    withAdmission({ kind: 'unavailable', reason: 'no finished counter' }),
  ].map((explanation) => explainText(explanation, PLAIN));
  const admission = texts.flatMap((text) => text.match(/^Admission.*\n(?: {2}.*\n)*/gm) ?? []);
  assertGolden('explain/admission.txt', admission.join(''));
});

test('on a terminal no sentence is wider than it, and no word is lost', () => {
  const fleet = new Fleet(2);
  const explanation = explanationOf(fleet.step([busy(1, 30, 2), busy(1, 20)]));
  const wide = explainText(explanation, PLAIN);
  const narrow = explainText(explanation, { ...PLAIN, columns: 60 });
  assert.ok(wide.split('\n').some((line) => line.length > 60));
  for (const line of narrow.split('\n')) assert.ok(line.length <= 60, line);
  assert.equal(narrow.replace(/\s+/g, ' '), wide.replace(/\s+/g, ' '));
});

test('a unit that is the least there is says so', () => {
  const text = explainText(explanationOf(new Fleet(2).step([busy(1, 6), busy(1, 4)])), PLAIN);
  assert.match(text, /^ {2}queue: mean 0, in units of 1, the least, counts/m);
  assert.match(text, /^ {2}KV cache: mean [\d.]+, in units of 0\.1, the least, counts/m);
  assert.match(text, /^ {2}requests inside: mean 5, in units of 8, the least, counts/m);
});

test('back to configured weights as nobody gives metrics: not because shares moved', () => {
  const fleet = new Fleet(2);
  const decisions = [
    fleet.step([busy(1, 40), busy(1, 4)]),
    ...Array.from({ length: 60 }, () => fleet.step(['timeout', 'timeout'])),
  ];
  const text = explainText(explanationAfter(decisions), PLAIN);
  assert.match(text, /^Published .* ago, because no backend has given metrics for too long;/m);
});

test('colour: headings, warnings, and what is unhealthy', () => {
  const decision = new Fleet(2).step([{ queued: 20 }, { queued: 20 }]);
  const text = explainText(explanationOf(decision), { full: false, color: true, columns: undefined });
  assert.match(text, /^\u001b\[1mllama: .*\u001b\[0m$/m);
  assert.match(text, /^\u001b\[33mWarning: every backend is saturated.*\u001b\[0m$/m);
  assert.match(text, /^\u001b\[31m10\.0\.3\.1:8000: UNHEALTHY.*\u001b\[0m$/m);
  assert.doesNotMatch(explainText(explanationOf(decision), PLAIN), /\u001b/);
});

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { SaturationSettings } from '../../../src/core/model/balance-settings.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { judgeSaturation, type Mark, standingMark, UNMARKED } from '../../../src/core/saturation.ts';
import { backend } from '../../support/decisions.ts';
import { Fleet, healths, one, sampleOf } from '../../support/fleet.ts';

const SETTINGS: SaturationSettings = {
  totalQueuedRequests: { mark: 10, clear: 3 },
  kvCacheUtilization: { mark: 0.98 },
  runningRequests: undefined,
  admission: 'None' as const,
};

function saturatedAfter(
  samples: readonly Partial<Sample>[],
  settings: SaturationSettings | undefined = SETTINGS,
  intervalSeconds = 1,
): readonly boolean[] {
  let mark: Mark = UNMARKED;
  return samples.map((values) => {
    mark = judgeSaturation(mark, sampleOf(values), settings, intervalSeconds, 0);
    return mark.saturated;
  });
}

test('marked above 10, cleared at 3', () => {
  const queue = [10, 11, 10, 4, 3, 4, 10, 11].map((queued) => ({ queued }));
  assert.deepEqual(saturatedAfter(queue), [false, true, true, true, false, false, false, true]);
});

test('a full cache marks only with a queue above the clearing number', () => {
  const cases: readonly [queued: number, kvUtilization: number, saturated: boolean][] = [
    [0, 1, false],
    [3, 1, false],
    [4, 0.97, false],
    [4, 0.98, true],
  ];
  for (const [queued, kvUtilization, saturated] of cases) {
    assert.deepEqual(saturatedAfter([{ queued, kvUtilization }]), [saturated], `${queued}, ${kvUtilization}`);
  }
});

test('a mark by cache is cleared by the queue alone', () => {
  const samples = [
    { queued: 5, kvUtilization: 1 },
    { queued: 5, kvUtilization: 0.2 },
    { queued: 3, kvUtilization: 1 },
  ];
  assert.deepEqual(saturatedAfter(samples), [true, true, false]);
});

test('running requests mark when told to, and both must be cleared', () => {
  const settings = { ...SETTINGS, runningRequests: { mark: 100, clear: 50 } };
  const samples = [{ running: 100 }, { running: 101 }, { running: 51 }, { running: 50 }];
  assert.deepEqual(saturatedAfter(samples, settings), [false, true, true, false]);
  const both = [
    { running: 10, queued: 11 },
    { running: 60, queued: 3 },
    { running: 50, queued: 3 },
  ];
  assert.deepEqual(saturatedAfter(both, settings), [true, true, false]);
});

test('a mark knows what set it: the first sample that was above', () => {
  const settings = { ...SETTINGS, runningRequests: { mark: 100, clear: 50 } };
  const above: readonly (readonly [Partial<Sample>, object])[] = [
    [
      { queued: 11, kvUtilization: 1 },
      { metric: 'TotalQueuedRequests', value: 11, mark: 10, queued: 11, atMs: 7 },
    ],
    [
      { queued: 4, kvUtilization: 0.99 },
      { metric: 'KVCacheUtilization', value: 0.99, mark: 0.98, queued: 4, atMs: 7 },
    ],
    [{ running: 101 }, { metric: 'RunningRequests', value: 101, mark: 100, queued: 0, atMs: 7 }],
  ];
  for (const [values, cause] of above) {
    const first = judgeSaturation(UNMARKED, sampleOf(values), settings, 1, 7);
    assert.deepEqual(first.cause, cause);
    const still = { queued: 50, running: 500 };
    assert.deepEqual(judgeSaturation(first, sampleOf(still), settings, 1, 8).cause, cause);
    assert.equal(judgeSaturation(first, sampleOf({}), settings, 1, 8).cause, undefined);
  }
});

test('a metric that the engine lacks marks nothing and keeps no mark', () => {
  assert.deepEqual(saturatedAfter([{ queued: undefined, kvUtilization: 1 }]), [false]);
  assert.deepEqual(saturatedAfter([{ queued: 20 }, { queued: undefined }]), [true, false]);
});

test('without settings nothing is saturated', () => {
  let mark = judgeSaturation(UNMARKED, sampleOf({ queued: 1000 }), undefined, 1, 0);
  assert.equal(mark.saturated, false);
  mark = judgeSaturation({ ...UNMARKED, saturated: true }, sampleOf({ queued: 1000 }), undefined, 1, 0);
  assert.equal(mark.saturated, false);
});

test('below an interval of 1 s every sample of one second must be above', () => {
  const queue = [11, 11, 11, 2, 11, 11, 11, 11, 4, 3].map((queued) => ({ queued }));
  const four = [false, false, false, false, false, false, false, true, true, false];
  assert.deepEqual(saturatedAfter(queue, SETTINGS, 0.25), four);
});

test('a mark stands while samples are missing, for 30 s or 5 intervals', () => {
  const marked = { ...UNMARKED, saturated: true };
  assert.equal(standingMark(marked, 30_000, 1).saturated, true);
  assert.equal(standingMark(marked, 30_001, 1).saturated, false);
  assert.equal(standingMark(marked, 250_000, 50).saturated, true);
  assert.equal(standingMark(marked, 250_001, 50).saturated, false);
});

test('saturated is published UNHEALTHY, with its weight and no share', () => {
  const fleet = new Fleet(3);
  const decision = fleet.step([{ queued: 11 }, { queued: 0 }, { queued: 0 }]);
  assert.deepEqual(healths(decision), ['UNHEALTHY', 'HEALTHY', 'HEALTHY']);
  const saturated = one(decision, 0);
  assert.equal(saturated.saturated, true);
  assert.ok(saturated.weight >= 1);
  assert.equal(saturated.share, 0);
  assert.match(saturated.reasons.join(), /saturated: 11 queued \(marked above 10, cleared at 3\)/);
  assert.ok(Math.abs(one(decision, 1).share + one(decision, 2).share - 1) < 1e-9);
});

test('a backend that misses its collections stays saturated for 30 s, then counts as healthy', () => {
  const fleet = new Fleet(4);
  const rest = (step: number) => [1, 2, 3].map((n) => ({ running: n, finished: step }));
  fleet.step([{ queued: 20 }, ...rest(0)]);
  for (let step = 1; step <= 30; step++) {
    assert.equal(one(fleet.step(['timeout', ...rest(step)]), 0).health, 'UNHEALTHY', `after ${step} s`);
  }
  const decision = fleet.step(['timeout', ...rest(31)]);
  assert.equal(one(decision, 0).health, 'HEALTHY');
  assert.equal(decision.publish, 'health');
});

test('all saturated on fresh data: all UNHEALTHY, and a warning says what that means', () => {
  const decision = new Fleet(3).step([{ queued: 11 }, { queued: 12 }, { queued: 13 }]);
  assert.deepEqual(healths(decision), ['UNHEALTHY', 'UNHEALTHY', 'UNHEALTHY']);
  assert.deepEqual(
    decision.backends.map((of) => of.share),
    [0, 0, 0],
  );
  assert.match(decision.warnings.join(), /every backend is saturated: sidecars answer 503/);
});

test('from half on it is said, and so for 10 s after it has ended: a fleet at its limit does not flap', () => {
  const fleet = new Fleet(4);
  let steps = 0;
  const step = (...queued: readonly number[]): string =>
    fleet
      .step(queued.map((of) => ({ queued: of, running: 5 + (++steps % 7), finished: steps })))
      .warnings.filter((text) => text.includes('saturated'))
      .join();
  const half = 'half of the backends or more are saturated: the others take what comes';
  const all = 'every backend is saturated: sidecars answer 503';
  assert.equal(step(11, 0, 0, 0), '');
  assert.equal(step(11, 11, 0, 0), half);
  assert.equal(step(11, 11, 11, 11), all);
  for (let second = 1; second <= 10; second++) assert.equal(step(11, 11, 0, 0), all, `after ${second} s`);
  assert.equal(step(0, 0, 0, 0), half);
  for (let second = 2; second <= 10; second++) assert.equal(step(0, 0, 0, 0), half, `after ${second} s`);
  assert.equal(step(0, 0, 0, 0), '');
});

/** Three of four are marked and then silent; the fourth answers with so many queued. */
function threeSilent(fleet: Fleet, queued: number): GroupDecision {
  return fleet.step(['timeout', 'timeout', 'timeout', { queued }]);
}

test('all saturated, most of them by samples that no longer count: those are HEALTHY, and it is said', () => {
  const fleet = new Fleet(4);
  fleet.step([{ queued: 20 }, { queued: 20 }, { queued: 20 }, { queued: 0 }]);
  assert.deepEqual(healths(threeSilent(fleet, 0)), ['UNHEALTHY', 'UNHEALTHY', 'UNHEALTHY', 'HEALTHY']);
  const decision = threeSilent(fleet, 20);
  assert.deepEqual(healths(decision), ['HEALTHY', 'HEALTHY', 'HEALTHY', 'UNHEALTHY']);
  assert.equal(decision.publish, 'health');
  assert.match(
    one(decision, 0).reasons.join(),
    /saturated when it last gave metrics, but every backend that/,
  );
  assert.equal(one(decision, 0).saturated, false);
  assert.doesNotMatch(decision.warnings.join(), /503/);
  const relieved = threeSilent(fleet, 0);
  assert.deepEqual(healths(relieved), ['UNHEALTHY', 'UNHEALTHY', 'UNHEALTHY', 'HEALTHY']);
});

test('a refused or second miss counts as that, a first miss does not: its last sample still counts', () => {
  const fleet = new Fleet(3);
  const all = { queued: 20 };
  fleet.step([all, all, all]);
  assert.deepEqual(healths(fleet.step(['timeout', all, all])), ['UNHEALTHY', 'UNHEALTHY', 'UNHEALTHY']);
  assert.deepEqual(healths(fleet.step(['timeout', all, all])), ['HEALTHY', 'UNHEALTHY', 'UNHEALTHY']);
  assert.deepEqual(healths(fleet.step([all, 'refused', all])), ['UNHEALTHY', 'HEALTHY', 'UNHEALTHY']);
});

test('what is removed or takes no traffic spares nobody and is not spared', () => {
  const removing = new Fleet(3, { onCollectFailure: 'Remove' });
  removing.step([{ queued: 20 }, { queued: 20 }, { queued: 20 }]);
  const removed = removing.steps(2, ['timeout', { queued: 20 }, { queued: 21 }]);
  assert.deepEqual(healths(removed), [undefined, 'UNHEALTHY', 'UNHEALTHY']);

  const fleet = new Fleet([backend(1), backend(2), backend(3, { weight: 0 })]);
  fleet.step([{ queued: 20 }, { queued: 0 }, { queued: 0 }]);
  const decision = fleet.steps(2, ['timeout', { queued: 20 }, { queued: 0 }]);
  assert.deepEqual(healths(decision), ['HEALTHY', 'UNHEALTHY', undefined]);
});

test('while nobody answers the published health stands, however old each mark is', () => {
  const fleet = new Fleet(2);
  fleet.step([{ queued: 20 }, { queued: 0 }]);
  for (let second = 1; second <= 20; second++) fleet.step(['timeout', { finished: second }]);
  for (let second = 1; second <= 30; second++) {
    const kept = fleet.step(['timeout', 'timeout']);
    assert.deepEqual([kept.mode, kept.publish], ['kept', undefined], `${second}`);
    assert.deepEqual(healths(kept), ['UNHEALTHY', 'HEALTHY'], `${second}`);
  }
  assert.deepEqual(healths(fleet.step(['timeout', 'timeout'])), ['HEALTHY', 'HEALTHY']);
});

test('those that were spared stay so when nobody answers', () => {
  const fleet = new Fleet(4);
  fleet.step([{ queued: 20 }, { queued: 20 }, { queued: 20 }, { queued: 0 }]);
  threeSilent(fleet, 0);
  threeSilent(fleet, 20);
  const kept = fleet.step(['timeout', 'timeout', 'timeout', 'timeout']);
  assert.deepEqual([kept.mode, kept.publish], ['kept', undefined]);
  assert.deepEqual(healths(kept), ['HEALTHY', 'HEALTHY', 'HEALTHY', 'UNHEALTHY']);
  assert.match(one(kept, 0).reasons.join(), /healthy as published before, since no backend gives metrics/);
});

test('answers that took their time: weights and health end at the same evaluation', () => {
  const fleet = new Fleet(2);
  fleet.step([{ queued: 20 }, { queued: 20 }], 300);
  for (let second = 1; second < 30; second++) {
    const kept = fleet.step(['timeout', 'timeout']);
    assert.deepEqual([kept.mode, ...healths(kept)], ['kept', 'UNHEALTHY', 'UNHEALTHY'], `${second}`);
  }
  const end = fleet.step(['timeout', 'timeout']);
  assert.deepEqual(
    [end.mode, ...healths(end)],
    ['configured', 'HEALTHY', 'HEALTHY'],
    '30.3 s after the samples',
  );
});

test('all stale is not all saturated: the marks end with the blindness', () => {
  const fleet = new Fleet(2);
  fleet.step([{ queued: 11 }, { queued: 11 }]);
  const kept = fleet.steps(30, ['timeout', 'timeout']);
  assert.deepEqual(healths(kept), ['UNHEALTHY', 'UNHEALTHY']);
  assert.equal(kept.publish, undefined);
  const blind = fleet.step(['timeout', 'timeout']);
  assert.deepEqual(healths(blind), ['HEALTHY', 'HEALTHY']);
  assert.equal(blind.mode, 'configured');
});

test('all but one saturated: the last one gets everything', () => {
  const decision = new Fleet(3).step([{ queued: 11 }, { queued: 12 }, { queued: 2 }]);
  assert.deepEqual(
    decision.backends.map((of) => of.share),
    [0, 0, 1],
  );
});

test('a queue that oscillates around 5 flips no health', () => {
  const fleet = new Fleet(3);
  const flips = Array.from({ length: 60 }, (_, step) => {
    const queued = 5 + Math.round(5 * Math.sin(step));
    return fleet.step([{ queued, finished: step }, { finished: step }, { finished: step }]);
  }).filter((decision) => decision.publish === 'health');
  assert.equal(flips.length, 0);
});

test('turning saturation off by a reload ends the marks, missing samples or not', () => {
  const fleet = new Fleet(2);
  fleet.step([{ queued: 11 }, { queued: 11 }]);
  fleet.reload(fleet.servers, { saturation: undefined });
  assert.deepEqual(healths(fleet.step([{ queued: 12 }, 'timeout'])), ['HEALTHY', 'HEALTHY']);

  const silent = new Fleet(2);
  silent.step([{ queued: 11 }, { queued: 11 }]);
  silent.reload(silent.servers, { saturation: undefined });
  assert.deepEqual(healths(silent.step(['timeout', 'timeout'])), ['HEALTHY', 'HEALTHY']);
});

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SaturationSettings } from '../../../src/core/model/balance-settings.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { type Answer, Fleet, type FleetOptions, healths } from '../../support/fleet.ts';

const SATURATION: SaturationSettings = {
  totalQueuedRequests: { mark: 1000, clear: 3 },
  kvCacheUtilization: { mark: 0.98 },
  runningRequests: undefined,
  admission: 'Proportional',
};
const OPTIONS: FleetOptions = { saturation: SATURATION };
const SPARED = 'above its mark, as others are: healthy while the overload lasts';
const WARNING = 'overload: sidecars refuse a share of the requests with 503';

/** An engine that finishes 10 requests a second. */
const busy = (step: number, queued: number): Partial<Sample> => ({
  queued,
  running: 20,
  kvUtilization: 0.5 + (step % 7) / 100,
  finished: 10 * step,
});

/** A fleet that has been in overload for so many evaluations. */
function overloaded(count = 3, steps = 3): { readonly fleet: Fleet; readonly decision: GroupDecision } {
  const fleet = new Fleet(count, OPTIONS);
  const decision = fleet.steps(steps, (step) => Array.from({ length: count }, () => busy(step, 40)));
  return { fleet, decision };
}

function shareOf({ admission }: GroupDecision): number {
  return admission.kind === 'shedding' ? admission.share : 0;
}

test('overload: the share is decided, published, warned of, and shown with its figures', () => {
  const { decision } = overloaded();
  assert.ok(decision.admission.kind === 'shedding' && decision.admission.basis.kind === 'measured');
  assert.deepEqual(decision.admission.basis.figures, {
    backends: 3,
    marked: 0,
    medianQueued: 40,
    meanQueued: 40,
    finishedPerSecond: 10,
    waitSeconds: 4,
    medianWaitSeconds: 8,
    engagedAboveSeconds: 0.7 + 2 / 3,
    targetSeconds: 0.3,
  });
  assert.equal(decision.assignment.dropShare, 0.95);
  assert.deepEqual(decision.warnings, [WARNING]);
});

test('equal weights are dithered while a share is refused, and equal again after it', () => {
  const { fleet, decision } = overloaded();
  const weights = ({ assignment }: GroupDecision) =>
    new Set(assignment.endpoints.map(({ weight }) => weight));
  assert.ok(weights(decision).size > 1);
  const later = fleet.steps(30, (step) => [0, 0, 0].map(() => busy(3 + step, 0)));
  assert.equal(shareOf(later), 0);
  assert.equal(later.assignment.dropShare, 0);
  assert.deepEqual([...weights(later)], [100_000]);
  assert.deepEqual(later.warnings, []);
});

test('each change of the share has a reason to be published', () => {
  const fleet = new Fleet(2, OPTIONS);
  const reasons = Array.from({ length: 4 }, (_, step) => {
    const decision = fleet.step([busy(step, step < 2 ? 0 : 20), busy(step, step < 2 ? 0 : 20)]);
    return decision.publish;
  });
  assert.deepEqual(reasons, ['first', undefined, 'admission', 'admission']);
});

test('while nobody usable answers the share stands; blind it ends', () => {
  const { fleet, decision } = overloaded();
  const silent = fleet.step(['timeout', 'timeout', 'timeout']);
  assert.deepEqual(silent.admission, {
    kind: 'shedding',
    share: shareOf(decision),
    sparedUpTo: 120,
    basis: { kind: 'standing' },
  });
  assert.equal(silent.mode, 'kept');
  const blind = fleet.steps(40, ['timeout', 'timeout', 'timeout']);
  assert.equal(blind.mode, 'configured');
  assert.deepEqual(blind.admission, { kind: 'off', figures: undefined });
  assert.equal(blind.assignment.dropShare, 0);
});

test('all frozen: it ends', () => {
  const { fleet } = overloaded();
  const standstill = fleet.steps(12, [busy(3, 40), busy(3, 40), busy(3, 40)]);
  assert.ok(standstill.backends.every(({ frozen }) => frozen));
  assert.equal(standstill.assignment.dropShare, 0);
  assert.deepEqual(standstill.admission, { kind: 'off', figures: undefined });
});

test('half of them frozen: what was refused for their queues is not refused any more', () => {
  const { fleet } = overloaded(4);
  const answers = (step: number) => [busy(3, 40), busy(3, 40), busy(3 + step, 1), busy(3 + step, 1)];
  const before = fleet.steps(10, answers);
  assert.ok(shareOf(before) > 0.5, 'they still count');
  const decision = fleet.steps(3, (step) => answers(step + 10));
  assert.deepEqual(
    decision.backends.map(({ frozen }) => frozen),
    [true, true, false, false],
  );
  assert.equal(shareOf(decision), 0);
});

test('frozen, silent and zero-weight backends have no part in it', () => {
  const { fleet } = overloaded(4, 1);
  const decision = fleet.steps(14, (step) => [busy(1 + step, 2), busy(1 + step, 2), busy(1, 500), 'timeout']);
  assert.equal(decision.backends[2]?.frozen, true);
  assert.ok(decision.admission.kind === 'off');
  assert.deepEqual([decision.admission.figures?.backends, decision.admission.figures?.meanQueued], [2, 2]);
});

test('an engine without a counter of finished requests: unavailable, with the reason and a warning', () => {
  const fleet = new Fleet(2, OPTIONS);
  const decision = fleet.steps(5, (step) =>
    [0, 1].map((index) => ({ queued: 80, running: 9 + ((step + index) % 2), finished: undefined })),
  );
  const reason = 'no backend that answers has a metric of finished requests';
  assert.deepEqual(decision.admission, { kind: 'unavailable', reason });
  assert.equal(decision.assignment.dropShare, 0);
  assert.ok(decision.warnings.some((warning) => warning.includes(reason)));
});

const MARKING: FleetOptions = {
  saturation: { ...SATURATION, totalQueuedRequests: { mark: 10, clear: 3 } },
};

test('marks stay beside it: when all are far above them and the most is refused, all are UNHEALTHY', () => {
  const fleet = new Fleet(2, MARKING);
  const early = fleet.steps(5, (step) => [busy(step, 40), busy(step, 40)]);
  assert.deepEqual([shareOf(early), ...healths(early)], [0.95, 'HEALTHY', 'HEALTHY'], 'it has hardly begun');
  const decision = fleet.steps(2, (step) => [busy(5 + step, 40), busy(5 + step, 40)]);
  assert.deepEqual(healths(decision), ['UNHEALTHY', 'UNHEALTHY']);
  assert.equal(shareOf(decision), 0.95);
});

test('in an overload only a queue unlike the others’ makes UNHEALTHY', () => {
  const fleet = new Fleet(4, MARKING);
  const queues = [11, 11, 11, 60];
  const decision = fleet.steps(2, (step) => queues.map((queued) => busy(step, queued)));
  assert.ok(shareOf(decision) > 0 && shareOf(decision) < 0.95);
  assert.deepEqual(healths(decision), ['HEALTHY', 'HEALTHY', 'HEALTHY', 'UNHEALTHY']);
  assert.equal(decision.backends[0]?.reasons.at(-1), SPARED);
});

/** Four fast engines, each of which finishes 80 a second. */
function fast(fleet: Fleet, step: number, queues: readonly number[]): GroupDecision {
  return fleet.step(queues.map((queued) => ({ ...busy(step, queued), finished: 80 * step })));
}

test('an overload that fades puts nobody out for a queue like the others’', () => {
  const fleet = new Fleet(4, MARKING);
  const course = [60, 60, 60, 12, 12, 12, 12, 5, 5];
  const decisions = course.map((queued, step) => fast(fleet, step, Array(4).fill(queued)));
  assert.deepEqual(
    decisions.slice(3).map(({ admission }) => admission.kind),
    Array(6).fill('engaged'),
  );
  for (const [step, decision] of decisions.entries()) {
    assert.deepEqual(new Set(healths(decision)), new Set(['HEALTHY']), `after ${step} s`);
  }
  assert.equal(decisions.at(-1)?.backends[0]?.reasons.at(-1), SPARED);
});

test('a mark that is spared when an overload ends is forgotten then, and comes again as every other', () => {
  const fleet = new Fleet(4, MARKING);
  let step = 0;
  while (step < 3) fast(fleet, step++, [12, 12, 12, 12]);
  const engaged = fast(fleet, step++, [4, 4, 4, 2]);
  assert.equal(engaged.admission.kind, 'engaged');
  const ends = fast(fleet, step++, [4, 4, 3, 2]);
  assert.equal(ends.admission.kind, 'off');
  assert.deepEqual(healths(ends), ['HEALTHY', 'HEALTHY', 'HEALTHY', 'HEALTHY']);
  assert.equal(ends.backends[0]?.reasons.at(-1), SPARED, 'as long as its sample is published');
  const next = fast(fleet, step++, [10, 4, 3, 2]);
  assert.deepEqual(healths(next), ['HEALTHY', 'HEALTHY', 'HEALTHY', 'HEALTHY'], 'not above the mark again');
  assert.deepEqual([next.backends[0]?.markCause, next.admission.kind], [undefined, 'off']);
  assert.deepEqual(healths(fast(fleet, step++, [11, 4, 3, 2]))[0], 'UNHEALTHY');
});

test('one stuck backend of two is marked, and nothing is refused', () => {
  const decision = new Fleet(2, MARKING).steps(5, (step) => [busy(step, 200), busy(step, 0)]);
  assert.deepEqual(healths(decision), ['UNHEALTHY', 'HEALTHY']);
  assert.equal(decision.admission.kind, 'off');
});

test('half of ten are stuck, and one of the others does not answer for once: that makes no majority', () => {
  const answers = (step: number, last: Answer): readonly Answer[] => [
    ...Array.from({ length: 5 }, () => busy(step, 200)),
    ...Array.from({ length: 4 }, () => busy(step, 0)),
    last,
  ];
  const fleet = new Fleet(10, MARKING);
  fleet.steps(3, (step) => answers(step, busy(step, 0)));
  const decision = fleet.step(answers(3, 'timeout'));
  assert.equal(healths(decision).filter((health) => health === 'UNHEALTHY').length, 5);
  assert.equal(decision.admission.kind, 'off');
});

test('a limit of running requests holds while a share is refused', () => {
  const saturation = { ...SATURATION, runningRequests: { mark: 15, clear: 10 } };
  const decision = new Fleet(2, { saturation }).steps(3, (step) => [busy(step, 12), busy(step, 12)]);
  assert.deepEqual(healths(decision), ['UNHEALTHY', 'UNHEALTHY']);
});

test('a limit of running requests holds whatever set the mark, and until it is cleared', () => {
  const saturation = {
    ...SATURATION,
    totalQueuedRequests: { mark: 10, clear: 3 },
    runningRequests: { mark: 100, clear: 80 },
  };
  const fleet = new Fleet(4, { saturation });
  const step = (at: number, running: number) =>
    healths(fleet.step([{ ...busy(at, 12), running }, busy(at, 12), busy(at, 12), busy(at, 12)]))[0];
  step(0, 120);
  assert.equal(step(1, 120), 'UNHEALTHY', 'above both marks');
  assert.equal(step(2, 81), 'UNHEALTHY');
  assert.equal(step(3, 80), 'HEALTHY', 'spared by its queue');
  assert.equal(step(4, 100), 'HEALTHY', 'not above the mark again');
  assert.equal(step(5, 101), 'UNHEALTHY');
});

test('where nothing is refused no mark is spared', () => {
  const runningRequests = { mark: 100, clear: 80 };
  for (const admission of ['Proportional', 'None'] as const) {
    const saturation = {
      ...SATURATION,
      totalQueuedRequests: { mark: 10, clear: 3 },
      runningRequests,
      admission,
    };
    const fleet = new Fleet(3, { saturation });
    const step = (at: number, queued: number) =>
      fleet.step([{ ...busy(at, queued), running: 90 }, busy(at, 0), busy(at, 0)]);
    step(0, 12);
    assert.equal(healths(step(1, 0))[0], 'UNHEALTHY', admission);
    assert.equal(shareOf(step(2, 0)), 0);
  }
});

test('a start in an overload refuses half until the rate is known, and keeps nobody out', () => {
  const fleet = new Fleet(4, MARKING);
  const first = fleet.step([12, 14, 30, 2].map((queued) => busy(0, queued)));
  assert.deepEqual(first.admission, {
    kind: 'shedding',
    share: 0.5,
    sparedUpTo: 36,
    basis: { kind: 'unmeasured' },
  });
  assert.deepEqual(new Set(healths(first)), new Set(['HEALTHY']));
  assert.equal(first.assignment.dropShare, 0.5);
  const second = fleet.step([12, 14, 30, 2].map((queued) => busy(1, queued)));
  assert.ok(second.admission.kind === 'shedding' && second.admission.basis.kind === 'measured');
  const few = new Fleet(4, MARKING).step([12, 14, 2, 2].map((queued) => busy(0, queued)));
  assert.deepEqual([shareOf(few), ...healths(few)], [0, 'UNHEALTHY', 'UNHEALTHY', 'HEALTHY', 'HEALTHY']);
});

test('a queue that empties in an overload: nothing is refused, but it stays engaged, and refuses again at a short wait', () => {
  const fleet = new Fleet(8, OPTIONS);
  const steps = [4, 4, 2, 0, 0, 2].map((queued, step) =>
    fleet.step(Array.from({ length: 8 }, () => ({ ...busy(step, queued), finished: 4 * step }))),
  );
  assert.deepEqual(
    steps.map(({ admission }) => admission.kind),
    ['off', 'shedding', 'shedding', 'engaged', 'engaged', 'shedding'],
  );
  const [, , , , emptied, again] = steps.map(({ admission }) => admission);
  assert.ok(emptied?.kind === 'engaged' && emptied.basis.kind === 'measured');
  assert.ok(emptied.basis.control.integral >= 0.02, `${emptied.basis.control.integral}`);
  assert.ok(again?.kind === 'shedding' && again.basis.kind === 'measured');
  assert.equal(again.basis.control.previous, emptied.basis.control.integral);
  assert.ok(again.basis.figures.waitSeconds < again.basis.figures.engagedAboveSeconds);
  const silent = fleet.step(Array.from({ length: 8 }, () => 'timeout'));
  assert.equal(silent.admission.kind, 'shedding');
});

test('nobody answers while nothing is refused in an overload: that stands, too', () => {
  const fleet = new Fleet(8, OPTIONS);
  for (const [step, queued] of [4, 4, 2, 0].entries()) {
    fleet.step(Array.from({ length: 8 }, () => ({ ...busy(step, queued), finished: 4 * step })));
  }
  const silent = fleet.step(Array.from({ length: 8 }, () => 'timeout'));
  assert.deepEqual(silent.admission, { kind: 'engaged', sparedUpTo: 20, basis: { kind: 'standing' } });
  assert.ok(!silent.warnings.includes(WARNING));
});

test('a reload in an overload: an early evaluation is no whole interval', () => {
  const { fleet } = overloaded(3, 2);
  const integralOf = ({ admission }: GroupDecision) =>
    admission.kind === 'shedding' && admission.basis.kind === 'measured'
      ? admission.basis.control.integral
      : assert.fail(admission.kind);
  const before = integralOf(fleet.step([5, 5, 5].map((queued) => busy(2, queued))));
  const early = integralOf(
    fleet.step(
      [5, 5, 5].map((queued) => busy(2.1, queued)),
      0,
      0.1,
    ),
  );
  assert.ok(early - before > 0 && early - before <= 0.0085, `${early - before}`);
});

test('no counter: said once, also while some of the engines are idle', () => {
  const fleet = new Fleet(3, OPTIONS);
  const answer = (running: number): Answer => ({ queued: 0, running, finished: undefined });
  const kinds = [
    [0, 0, 0],
    [5, 6, 7],
    [5, 0, 6],
    [0, 0, 0],
    [7, 0, 0],
  ].map((running) => fleet.step(running.map(answer)).admission.kind);
  assert.deepEqual(kinds, ['off', 'unavailable', 'unavailable', 'unavailable', 'unavailable']);
  const seen = fleet.step([answer(5), answer(6), { ...busy(1, 0) }]);
  assert.equal(seen.admission.kind, 'off');
});

test('a reload that turns it off ends it at once, even if nobody answers', () => {
  for (const saturation of [{ ...SATURATION, admission: 'None' as const }, undefined]) {
    for (const answer of ['timeout', busy(4, 40)] as const) {
      const { fleet } = overloaded();
      fleet.reload(fleet.servers, { saturation });
      const decision = fleet.step([answer, answer, answer]);
      assert.deepEqual(decision.admission, { kind: 'disabled' });
      assert.equal(decision.assignment.dropShare, 0);
      assert.equal(decision.publish, 'admission');
    }
  }
});

test('backends that come and go take nothing of what is known', () => {
  const { fleet, decision } = overloaded();
  const [first] = fleet.servers;
  assert.ok(first !== undefined);
  fleet.reload([first]);
  const alone = fleet.step([busy(3, 3)]);
  assert.ok(shareOf(alone) > 0.1 && shareOf(alone) < shareOf(decision), `${shareOf(alone)}`);
});

test('restarts and missed collections do not bend the rate', () => {
  const fleet = new Fleet(2, OPTIONS);
  const decision = fleet.steps(40, (step) => [
    busy(step % 10, 5),
    step % 3 === 0 ? 'timeout' : busy(step, 5),
  ]);
  assert.ok(decision.admission.kind === 'off');
  const rate = decision.admission.figures?.finishedPerSecond ?? 0;
  assert.ok(Math.abs(rate - 10) < 0.5, `${rate}`);
});

const gauges = fc.record({
  queued: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constantFrom(1e6, undefined)),
  running: fc.integer({ min: 0, max: 300 }),
  kvUtilization: fc.double({ min: 0, max: 1, noNaN: true }),
  finished: fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.constant(undefined)),
});
const answer = fc.oneof(
  { arbitrary: gauges, weight: 4 },
  { arbitrary: fc.constantFrom<Answer>('timeout', 'refused', undefined), weight: 1 },
);

test('whatever happens the published share is in range, near the computed one, and none without samples', () => {
  fc.assert(
    fc.property(
      fc
        .integer({ min: 1, max: 4 })
        .chain((count) =>
          fc.array(fc.array(answer, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 40 }),
        ),
      fc.constantFrom(0.25, 1, 5, 50),
      (rounds, intervalSeconds) => {
        const fleet = new Fleet(rounds[0]?.length ?? 1, { ...MARKING, intervalSeconds });
        for (const round of rounds) {
          const decision = fleet.step(round);
          const { dropShare } = decision.assignment;
          assert.ok(dropShare >= 0 && dropShare <= 0.95, `${dropShare}`);
          assert.ok(Math.abs(dropShare - shareOf(decision)) < 0.006, `${dropShare} of ${shareOf(decision)}`);
          assert.equal(dropShare > 0, decision.admission.kind === 'shedding');
          const spares = 'sparedUpTo' in decision.admission && decision.admission.sparedUpTo !== undefined;
          assert.ok(spares || decision.backends.every(({ reasons }) => !reasons.includes(SPARED)));
        }
      },
    ),
    { seed: 20_260 },
  );
});

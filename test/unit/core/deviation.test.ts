import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Loads } from '../../../src/core/loads.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { deviations } from '../../../src/core/policies/adaptive.ts';
import { weighedSignals } from '../../../src/core/scorers/weighed.ts';
import { Fleet, SCORERS } from '../../support/fleet.ts';

const signals = weighedSignals(SCORERS, { queued: true, kv: true, running: true });
const requests = fc.double({ min: 0, max: 500, noNaN: true });
const ratio = fc.double({ min: 0, max: 1, noNaN: true });
const load = fc.record({ queued: requests, kv: ratio, inside: requests });

const loads = (values: { queued: number; kv: number; inside: number }, means: Loads['means']): Loads => ({
  queued: Float64Array.of(values.queued),
  kv: Float64Array.of(values.kv),
  inside: Float64Array.of(values.inside),
  means,
  mostQueued: undefined,
});

/** One that queues `stuck` requests, a queue that moves, and seven that hold more and more. */
function besideOne(stuck: number): GroupDecision {
  const fleet = new Fleet(8);
  return fleet.steps(4, (step) => [
    { queued: stuck - step, running: 32, kvUtilization: 0.9 - step / 1000, finished: step },
    ...[0, 0, 1, 2, 4, 7, 9].map((queued, index) => ({
      queued,
      running: 4 * (index + 1),
      kvUtilization: 0.05 + 0.12 * index + step / 1000,
      finished: step,
    })),
  ]);
}

test('one that is out with a queue of hundreds does not make all others look alike', () => {
  const lightest = (decision: GroupDecision): number => decision.backends[1]!.share;
  const heaviest = (decision: GroupDecision): number => decision.backends[7]!.share;
  const short = besideOne(12);
  for (const stuck of [60, 500]) {
    const decision = besideOne(stuck);
    assert.equal(decision.backends[0]?.health, 'UNHEALTHY');
    assert.ok(lightest(decision) > 3 * heaviest(decision), `beside ${stuck}: ${lightest(decision)}`);
    assert.ok(Math.abs(lightest(decision) - lightest(short)) < 0.01, 'as beside one that queues 12');
    // the lower median of 0, 0, 1, 2, 4, 7, 9 and the queue that is stuck
    assert.equal(decision.basis.mostQueued, 4 + 2 * 2);
  }
});

test('a long queue of one that is not saturated counts whole: the others have to pull', () => {
  const { basis } = new Fleet(3).step([
    { queued: 0, running: 4 },
    { queued: 2, running: 4 },
    { queued: 10, running: 4 },
  ]);
  assert.equal(basis.mostQueued, undefined);
  assert.equal(basis.signals.find(({ name }) => name === 'TotalQueuedRequests')?.mean, 4);
});

const deviation = (values: Parameters<typeof loads>[0], means: Loads['means']) =>
  deviations(loads(values, means), signals)[0] ?? Number.NaN;

test('with the scales held, a better metric never lowers the deviation', () => {
  fc.assert(
    fc.property(load, load, load, (means, values, less) => {
      const before = deviation(values, means);
      for (const name of ['queued', 'kv', 'inside'] as const) {
        const better = { ...values, [name]: Math.max(0, values[name] - less[name]) };
        assert.ok(deviation(better, means) >= before);
      }
    }),
    { seed: 7 },
  );
});

test('at the means the deviation is 0, and 0 where no sample is used', () => {
  fc.assert(
    fc.property(load, (means) => {
      assert.equal(deviation(means, means), 0);
      assert.equal(deviation({ queued: Number.NaN, kv: Number.NaN, inside: Number.NaN }, means), 0);
    }),
    { seed: 7 },
  );
});

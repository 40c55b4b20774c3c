import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Loads } from '../../../src/core/loads.ts';
import { deviations } from '../../../src/core/policies/adaptive.ts';
import { weighedSignals } from '../../../src/core/scorers/weighed.ts';
import { SCORERS } from '../../support/fleet.ts';

const signals = weighedSignals(SCORERS, { queued: true, kv: true, running: true });
const requests = fc.double({ min: 0, max: 500, noNaN: true });
const ratio = fc.double({ min: 0, max: 1, noNaN: true });
const load = fc.record({ queued: requests, kv: ratio, inside: requests });

const loads = (values: { queued: number; kv: number; inside: number }, means: Loads['means']): Loads => ({
  queued: Float64Array.of(values.queued),
  kv: Float64Array.of(values.kv),
  inside: Float64Array.of(values.inside),
  means,
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

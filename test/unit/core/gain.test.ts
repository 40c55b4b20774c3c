import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { type GainInput, gainBasis } from '../../../src/core/gain.ts';

const TYPICAL: GainInput = {
  meanInside: 100,
  intervalSeconds: 1,
  delaySeconds: 0.1,
  lagSeconds: 0,
  staySeconds: 8,
  envoyLbPolicy: 'RoundRobin',
};

/** g of the rule. */
function gainOf(input: GainInput): number {
  const { feedback, limit } = gainBasis(input);
  return Math.min(limit, feedback);
}

test('typical gains', () => {
  const cases: readonly [interval: number, stay: number, gain: number, within: number][] = [
    [1, 8, 3, 0],
    [5, 8, 0.8, 0.05],
    [15, 8, 0.12, 0.01],
    [50, 8, 0.001, 0.0005],
    [1, 1, 0.35, 0.01],
  ];
  for (const [intervalSeconds, staySeconds, expected, within] of cases) {
    const gain = gainOf({ ...TYPICAL, intervalSeconds, staySeconds });
    assert.ok(Math.abs(gain - expected) <= within, `T ${intervalSeconds}, R ${staySeconds}: ${gain}`);
  }
});

test('few requests limit the gain to 1, many to 3', () => {
  const limits: readonly [inside: number, gain: number][] = [
    [0, 1],
    [16, 1],
    [32, 2],
    [48, 3],
    [1000, 3],
  ];
  for (const [meanInside, gain] of limits) assert.equal(gainOf({ ...TYPICAL, meanInside }), gain);
});

test('sidecars that weigh in their own requests are corrected less', () => {
  const slow = { ...TYPICAL, intervalSeconds: 10 };
  const ratio = gainOf({ ...slow, envoyLbPolicy: 'LeastRequest' }) / gainOf(slow);
  assert.ok(Math.abs(ratio - 0.5 / 0.7) < 1e-12);
});

test('the gain falls with the interval, the delay and the lag, and rises with the stay', () => {
  const seconds = fc.double({ min: 0.1, max: 50, noNaN: true });
  fc.assert(
    fc.property(
      seconds,
      seconds,
      fc.double({ min: 0.5, max: 120, noNaN: true }),
      fc.double({ min: 0.01, max: 20, noNaN: true }),
      (intervalSeconds, delaySeconds, staySeconds, more) => {
        const input = { ...TYPICAL, intervalSeconds, delaySeconds, staySeconds };
        const gain = gainOf(input);
        assert.ok(gain >= 0 && gain <= 3);
        assert.ok(gainOf({ ...input, intervalSeconds: intervalSeconds + more }) <= gain);
        assert.ok(gainOf({ ...input, delaySeconds: delaySeconds + more }) <= gain);
        assert.ok(
          gainOf({ ...input, lagSeconds: more }) <= gainOf({ ...input, delaySeconds: delaySeconds + more }),
        );
        assert.ok(gainOf({ ...input, staySeconds: staySeconds + more }) >= gain);
      },
    ),
    { seed: 1 },
  );
});

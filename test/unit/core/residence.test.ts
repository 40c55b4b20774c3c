import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { INITIAL_STAY, observeStay, type Stay, type StayObservation } from '../../../src/core/residence.ts';
import { Fleet } from '../../support/fleet.ts';

const QUIET: StayObservation = { elapsedSeconds: 1, inside: 0, finished: 0, latencySum: 0, latencyCount: 0 };

function observe(count: number, observed: Partial<StayObservation>, from: Stay = INITIAL_STAY): Stay {
  let stay = from;
  for (let i = 0; i < count; i++) stay = observeStay(stay, { ...QUIET, ...observed });
  return stay;
}

test('8 s before anything is known', () => {
  assert.equal(INITIAL_STAY.seconds, 8);
  assert.equal(observe(100, {}).seconds, 8);
});

test("Little's law: requests inside over requests finished per second", () => {
  assert.ok(Math.abs(observe(60, { inside: 40, finished: 10 }).seconds - 4) < 1e-9);
});

test('before as many have finished as are inside the estimate stands', () => {
  assert.equal(observe(9, { inside: 100, finished: 10 }).seconds, 8);
  assert.notEqual(observe(40, { inside: 100, finished: 10 }).seconds, 8);
  assert.equal(observe(4, { inside: 1, finished: 1 }).seconds, 8, 'at least 5');
});

test('the estimate keeps its value when all becomes quiet', () => {
  const busy = observe(60, { inside: 40, finished: 10 });
  assert.ok(Math.abs(observe(1000, {}, busy).seconds - 4) < 1e-6);
});

test('half a second at least, two minutes at most', () => {
  assert.equal(observe(60, { inside: 1, finished: 100 }).seconds, 0.5);
  assert.equal(observe(300, { elapsedSeconds: 200, inside: 20, finished: 21 }).seconds, 120);
});

test('the engines’ own latency counts where it is shorter, once five are known', () => {
  const cancelled = { inside: 40, finished: 4 };
  assert.ok(Math.abs(observe(60, cancelled).seconds - 10) < 1e-9);
  assert.ok(Math.abs(observe(60, { ...cancelled, latencySum: 12, latencyCount: 4 }).seconds - 3) < 1e-9);
  assert.ok(Math.abs(observe(60, { ...cancelled, latencySum: 80, latencyCount: 4 }).seconds - 10) < 1e-9);
  const few = { ...cancelled, latencySum: 0.3, latencyCount: 0.1 };
  assert.ok(Math.abs(observe(60, few).seconds - 10) < 1e-9, 'fewer than five in the window');
});

test('an old stay is forgotten within a minute or two', () => {
  const slow = observe(100, { inside: 100, finished: 10 });
  const fast = observe(120, { inside: 20, finished: 10 }, slow);
  assert.ok(Math.abs(fast.seconds - 2) < 0.2, `${fast.seconds}`);
});

/** Two backends with 20 inside and 5 finished a second each: 4 s. */
function staySeconds(
  change: (step: number) => { finished?: number | undefined } | 'timeout' = () => ({}),
): number {
  const fleet = new Fleet(2);
  const decision = fleet.steps(60, (step) => {
    const steady = { running: 19 + (step % 2) * 2, kvUtilization: (step % 7) / 10, finished: 5 * step };
    const other = change(step);
    return [steady, other === 'timeout' ? other : { ...steady, ...other }];
  });
  return decision.staySeconds;
}

test('counters that fall, missing samples and engines without a counter do not bend the estimate', () => {
  const near = (seconds: number, what: string) =>
    assert.ok(Math.abs(seconds - 4) < 0.3, `${what}: ${seconds}`);
  near(staySeconds(), 'plain');
  near(
    staySeconds((step) => ({ finished: 5 * (step % 30) })),
    'restart every 30 s',
  );
  near(
    staySeconds((step) => (step % 3 === 0 ? 'timeout' : {})),
    'every third missing',
  );
  near(
    staySeconds(() => ({ finished: undefined })),
    'no counter',
  );
});

test('a frozen backend and one of weight 0 have no part in it', () => {
  const fleet = new Fleet(2);
  const decision = fleet.steps(120, (step) => [
    { running: 20 + (step % 2), kvUtilization: 0.2, finished: 5 * step },
    { running: 100, kvUtilization: 0.5, finished: 7 },
  ]);
  assert.ok(Math.abs(decision.staySeconds - 4.1) < 0.3, `${decision.staySeconds}`);
});

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { INITIAL_STAY, observeStay, type Stay, type StayObservation } from '../../../src/core/residence.ts';
import { Fleet } from '../../support/fleet.ts';

const QUIET: StayObservation = {
  elapsedSeconds: 1,
  inside: 0,
  compared: 1,
  insideSeconds: 0,
  finished: 0,
  latencySum: 0,
  latencyCount: 0,
};

function observe(count: number, observed: Partial<StayObservation>, from: Stay = INITIAL_STAY): Stay {
  let stay = from;
  const { inside = 0, elapsedSeconds = 1 } = observed;
  const observation = { ...QUIET, insideSeconds: inside * elapsedSeconds, ...observed };
  for (let i = 0; i < count; i++) stay = observeStay(stay, observation);
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

test('stays of a minute and more are learned, two minutes at most', () => {
  for (const stay of [20, 40, 60, 110]) {
    const { seconds } = observe(1800, { inside: 200, finished: 200 / stay });
    assert.ok(Math.abs(seconds / stay - 1) < 0.01, `${seconds}, not ${stay}`);
  }
  assert.equal(observe(1800, { inside: 200, finished: 200 / 200 }).seconds, 120);
});

test('long stays of few requests are learned: five in four minutes', () => {
  let [stay, known] = [INITIAL_STAY, 0];
  for (let second = 0; second < 3600; second++) {
    const finished = second % 25 === 24 ? 1 : 0;
    stay = observeStay(stay, { ...QUIET, inside: 4, insideSeconds: 4, finished });
    if (stay.seconds > 60) known++;
  }
  assert.ok(known > 3000, `${known} s`);
  assert.ok(Math.abs(stay.seconds / 100 - 1) < 0.15, `${stay.seconds}`);
});

test('a long stay that ends is forgotten within a minute or two', () => {
  const slow = observe(1800, { inside: 200, finished: 200 / 60 });
  const fast = observe(120, { inside: 40, finished: 20 }, slow);
  assert.ok(fast.seconds < 5, `${fast.seconds}`);
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
function staysWhen(
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
  near(staysWhen(), 'plain');
  near(
    staysWhen((step) => ({ finished: 5 * (step % 30) })),
    'restart every 30 s',
  );
  near(
    staysWhen((step) => (step % 3 === 0 ? 'timeout' : {})),
    'every third missing',
  );
  near(
    staysWhen(() => ({ finished: undefined })),
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

/** So many inside, so many finished a second; never still. */
const at = (running: number, perSecond: number) => (step: number) => ({
  running,
  kvUtilization: 0.3 + (step % 5) / 100,
  finished: perSecond * step,
});

test('silence does not make few finished requests enough: the estimate stands', () => {
  const heavy = at(200, 1);
  const alone = new Fleet(1);
  assert.equal(alone.steps(11, (step) => [heavy(step)]).staySeconds, 8);
  for (let step = 11; step < 25; step++) assert.equal(alone.step(['timeout']).staySeconds, 8, `${step}`);

  const light = at(1, 1);
  const two = new Fleet(2);
  two.steps(11, (step) => [heavy(step), light(step)]);
  for (let step = 11; step < 40; step++) {
    const decision = two.step(['timeout', light(step)]);
    assert.equal(decision.staySeconds, 8, `the one that answers has few, the other holds 200: ${step}`);
  }
});

test('a run that nobody answers moves nothing, whatever falls out of the window', () => {
  const known = observe(10, { inside: 6, finished: 2, latencySum: 0.65, latencyCount: 0.65 });
  assert.ok(Math.abs(known.seconds - 1) < 1e-9 && known.latencyCount > 5, 'by latency');
  const silent = observe(5, { compared: 0 }, known);
  assert.ok(silent.latencyCount < 5 && silent.finished > 5);
  assert.equal(silent.seconds, known.seconds);
});

test('what a dead backend held does not hold the estimate for ever', () => {
  const fleet = new Fleet(2);
  const light = at(20, 10);
  fleet.steps(11, (step) => [at(2000, 0)(step), light(step)]);
  const decision = fleet.steps(300, (step) => ['refused', light(11 + step)]);
  assert.ok(Math.abs(decision.staySeconds - 2) < 0.1, `${decision.staySeconds}`);
});

test('missed collections do not bend the estimate towards those that answer', () => {
  const [slow, fast] = [at(40, 4), at(10, 10)];
  const stayOf = (misses: (step: number) => boolean) =>
    new Fleet(2).steps(200, (step) => [misses(step) ? 'timeout' : slow(step), fast(step)]).staySeconds;
  const truth = 50 / 14;
  assert.ok(Math.abs(stayOf(() => false) - truth) < 1e-9);
  const everySecond = stayOf((step) => step % 2 === 0);
  assert.ok(Math.abs(everySecond - truth) < 0.1, `${everySecond}`);
  const twoOfThree = stayOf((step) => step % 3 !== 1);
  assert.ok(Math.abs(twoOfThree - truth) < 0.2, `${twoOfThree}`);
});

test('a restart adds neither requests inside nor finished ones; a long silence is not bridged', () => {
  const fleet = new Fleet(1);
  const before = fleet.steps(60, (step) => [at(20, 5)(step)]).staySeconds;
  assert.ok(Math.abs(before - 4) < 1e-9);
  assert.ok(Math.abs(fleet.step([at(500, 1)(1)]).staySeconds - 4) < 1e-9);

  const silent = new Fleet(1);
  silent.steps(60, (step) => [at(20, 5)(step)]);
  silent.steps(40, ['timeout']);
  assert.ok(
    Math.abs(silent.step([{ running: 1, kvUtilization: 0.1, finished: 9000 }]).staySeconds - 4) < 1e-9,
  );
});

test('one absurd sample does not bend the estimate', () => {
  for (const [what, absurd] of [
    ['a counter that falls and comes back', { finished: 5 }],
    ['a counter that jumps', { finished: 9e15 }],
    ['a gauge beyond belief', { running: 1e12 }],
  ] as const) {
    const fleet = new Fleet(2);
    const usual = at(20, 5);
    const answers = (step: number) => {
      const values = usual(step + 1_000_000);
      return [step === 60 ? { ...values, ...absurd } : values, usual(step)];
    };
    for (let step = 0; step < 90; step++) {
      const seconds = fleet.step(answers(step)).staySeconds;
      if (step >= 59) assert.ok(seconds > 2.5 && seconds < 6, `${what}: 4 s became ${seconds} s at ${step}`);
    }
  }
});

test('a latency counter that falls and comes back is of no requests that finished', () => {
  const LIFE = 1_000_000;
  for (const [what, also, least] of [
    ['alone', 0, 19.9],
    ['with the counter of finished requests, of which as many count as are credible', 1, 13],
  ] as const) {
    const fleet = new Fleet(2);
    for (let step = 0; step < 400; step++) {
      const answers = [step === 300 ? LIFE : 0, 0].map((hidden) => ({
        running: 20,
        kvUtilization: (step % 7) / 10,
        finished: LIFE + step - also * hidden,
        latency: { sumSeconds: LIFE + 20 * step - hidden, count: LIFE + step - hidden },
      }));
      const { staySeconds } = fleet.step(answers);
      if (step < 299) continue;
      assert.ok(staySeconds > least && staySeconds < 20.1, `${what}: ${staySeconds} s at ${step}`);
    }
  }
});

import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { explainText } from '../../../src/commands/explain-text.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { explanationOf } from '../../support/explanations.ts';
import { type Answer, Fleet, one } from '../../support/fleet.ts';
import {
  LIES,
  type Lie,
  type LyingFleet,
  type LyingResult,
  runLyingFleet,
  timesFair,
} from '../../support/lying-fleet.ts';
import { weightsByHand } from '../../support/weight-by-hand.ts';

const LIAR = 0;
const MINUTE = 60;
/** Ten minutes, and two in which requests are counted. */
const SECONDS = 12 * MINUTE;

/** Eight backends of which the first one is of that speed, or as it says. */
function fleetOf(speed: number, change: Partial<LyingFleet> = {}): LyingFleet {
  return { speeds: [speed, 1, 1, 1, 1, 1, 1, 1], load: 0.6, seconds: SECONDS, ...change };
}

/** The first one begins to lie after ten minutes. */
function honestFirst(speed: number, lie: Lie, change: Partial<LyingFleet> = {}): LyingFleet {
  const from = 10 * MINUTE;
  return fleetOf(speed, { lies: { [LIAR]: lie }, liesFrom: from, seconds: from + SECONDS, ...change });
}

const isDoubted = (decision: GroupDecision): boolean => one(decision, LIAR).doubted;
const warned = (decision: GroupDecision): boolean =>
  decision.warnings.some((warning) => warning.startsWith('metrics are doubted'));
const afterTenMinutes = (result: LyingResult): number => timesFair(result, LIAR, 10 * MINUTE, SECONDS);
/** What it gets on average of its fair share by the published weights: of few requests chance brings more or fewer. */
function shareOf({ decisions }: LyingResult, from: number, to: number): number {
  const shares = decisions.slice(from, to).map((decision) => one(decision, LIAR).relativeWeight);
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}
const last = ({ decisions }: LyingResult): GroupDecision => decisions.at(-1) as GroupDecision;

describe('at most 1.6 times its fair share after ten minutes, and a warning', () => {
  for (const [name, fleet, lie] of [
    ['always zero, at half speed', fleetOf(0.5), LIES.zero],
    ['always zero, as fast as the others', fleetOf(1, { load: 0.4 }), LIES.zero],
    ['always zero, Interval 5', fleetOf(0.5, { intervalSeconds: 5 }), LIES.zero],
    ['always zero, stays of a minute', fleetOf(0.5, { staySeconds: 60 }), LIES.zero],
    ['always zero, of two', { speeds: [0.5, 1], load: 0.5, seconds: SECONDS }, LIES.zero],
    ['always zero, under Linear', fleetOf(0.5, { policy: 'Linear' }), LIES.zero],
    ['all zero, the finished counter stands still', fleetOf(0.1), LIES.zeroAndStill],
    ['a tenth of the load, as fast as the others', fleetOf(1, { load: 0.4 }), LIES.tenth],
    ['always zero, latency honest', fleetOf(0.5, { hasLatency: true }), LIES.zero],
    ['a tenth of the load, latency honest', fleetOf(1, { load: 0.4, hasLatency: true }), LIES.tenth],
  ] as const) {
    test(name, () => {
      const result = runLyingFleet({ ...fleet, lies: { [LIAR]: lie } });
      const times = afterTenMinutes(result);
      assert.ok(times <= 1.6, `${times}`);
      assert.ok(result.decisions.some(warned));
      assert.deepEqual(
        result.decisions.filter(({ backends }) => backends.slice(1).some(({ doubted }) => doubted)),
        [],
      );
    });
  }

  for (const [name, fleet] of [
    ['always zero, nine requests a minute', fleetOf(0.5, { staySeconds: 60, lies: { [LIAR]: LIES.zero } })],
    ['the same after ten honest minutes', honestFirst(0.5, LIES.zero, { staySeconds: 60 })],
    ['three requests a minute', fleetOf(1, { staySeconds: 60, load: 0.2, lies: { [LIAR]: LIES.zero } })],
    ['a tenth, by one that copes, after ten honest minutes', honestFirst(1, LIES.tenth, { load: 0.4 })],
    ['the same with 64 slots', honestFirst(1, LIES.tenth, { load: 0.4, slots: 64 })],
    [
      'two running requests, of some twenty',
      fleetOf(1, { load: 0.4, slots: 64, lies: { [LIAR]: LIES.stuck } }),
    ],
  ] as const) {
    test(`whatever chance brings: ${name}`, () => {
      for (const seed of [301, 302]) {
        const result = runLyingFleet({ ...fleet, seed });
        const times = shareOf(result, fleet.seconds - 2 * MINUTE, fleet.seconds);
        assert.ok(times <= 1.6, `seed ${seed}: ${times}`);
      }
    });
  }

  test('a tenth of the load at half speed is believed in part', () => {
    const result = runLyingFleet(fleetOf(0.5, { lies: { [LIAR]: LIES.tenth } }));
    const times = afterTenMinutes(result);
    assert.ok(times <= 1.6, `${times}`);
    assert.ok((one(last(result), LIAR).basis.intake?.trust ?? 1) < 0.6);
  });

  test('it begins to lie after ten honest minutes', () => {
    const result = runLyingFleet(honestFirst(0.5, LIES.zero));
    const times = timesFair(result, LIAR, 18 * MINUTE, 20 * MINUTE);
    assert.ok(times <= 1.6, `${times}`);
    const since = result.decisions.findIndex(isDoubted);
    assert.ok(since > 10 * MINUTE && since < 14 * MINUTE, `doubted after ${since} s`);
    assert.ok(result.decisions.slice(since).every(isDoubted), 'it does not flap');
  });

  test('every request fails at once, counted as finished: its weight gains nothing', () => {
    for (const envoyLbPolicy of ['RoundRobin', 'LeastRequest'] as const) {
      const fleet = fleetOf(1, { failing: [LIAR], envoyLbPolicy, seconds: 5 * MINUTE, hasLatency: true });
      const result = runLyingFleet(fleet);
      for (const decision of result.decisions) assert.ok(one(decision, LIAR).capacity < 1.35);
      const { doubted, relativeWeight } = one(last(result), LIAR);
      assert.ok(doubted && relativeWeight < 1.3, `${doubted}, ${relativeWeight}`);
    }
  });
});

describe('it tells the truth again after eight minutes', () => {
  const END = 8 * MINUTE;

  /** How long after that it is still doubted, s; it must have been, and not be again. */
  function doubtedFor({ decisions }: LyingResult): number {
    const after = decisions.slice(END);
    assert.ok(isDoubted(after[0] as GroupDecision));
    const seconds = after.findIndex((decision) => !isDoubted(decision));
    assert.ok(seconds > 0 && !after.slice(seconds).some(isDoubted), 'it does not flap');
    return seconds;
  }

  /** It holds its share of the load, and no queue. */
  for (const [name, lie, seconds] of [
    ['of its gauges', LIES.zero, 20],
    // what it finished meanwhile is not known: its sums have to be forgotten
    ['of its counter too', LIES.zeroAndStill, 2 * MINUTE],
  ] as const) {
    test(`${name}, without a queue: it is believed within ${seconds} s, and has its share meanwhile`, () => {
      for (const seed of [1, 2, 3]) {
        const lies = { [LIAR]: untilThen(lie) };
        const result = runLyingFleet(fleetOf(1, { load: 0.4, lies, seconds: END + 3 * MINUTE, seed }));
        const since = doubtedFor(result);
        assert.ok(since <= seconds, `seed ${seed}: doubted for ${since} s`);
        const share = shareOf(result, END, END + 2 * MINUTE);
        assert.ok(share > 0.85 && share < 1.15, `seed ${seed}: ${share}`);
      }
    });
  }

  /**
   * As long as its queue stands, its gauges are above the mean, which counts whatever it is believed, and above its mark
   * it gets nothing: to believe it sooner would not bring it one request more.
   */
  test('with the queue that its lie has brought: it is believed within 5 s of getting requests again', () => {
    for (const seed of [1, 2, 3]) {
      const lies = { [LIAR]: untilThen(LIES.zero) };
      const result = runLyingFleet(fleetOf(0.5, { lies, seconds: END + 3 * MINUTE, seed }));
      const since = doubtedFor(result);
      const healths = result.decisions.slice(END).map((decision) => one(decision, LIAR).health);
      const marked = healths.indexOf('UNHEALTHY');
      const again = healths.indexOf('HEALTHY', marked);
      assert.ok(marked >= 0 && again > marked, `seed ${seed}: kept out from ${marked} to ${again} s`);
      assert.ok(since < again + 5, `seed ${seed}: doubted for ${since} s, kept out until ${again} s`);
    }
  });

  function untilThen(lie: Lie): Lie {
    return (truth, second) => (second < END ? lie(truth, second) : truth);
  }
});

test('a page that is always full gains nothing, nor makes it the others doubted', () => {
  const result = runLyingFleet(fleetOf(0.5, { lies: { [LIAR]: LIES.most }, seconds: 5 * MINUTE }));
  assert.ok(timesFair(result, LIAR, MINUTE, 5 * MINUTE) < 0.5);
  assert.equal(result.decisions.some(warned), false);
});

test('without a counter a residual rises to 1.5 and its weight to 2.25 times the configured one, no further', () => {
  const lies = { [LIAR]: LIES.zeroWithoutCounter };
  const { decisions } = runLyingFleet(fleetOf(0.5, { lies }));
  const most = Math.max(...decisions.map((decision) => one(decision, LIAR).basis.weight));
  assert.ok(most > 2 && most < 2.3, `${most}`);
});

/** One minute of five. */
function bursts(second: number): number {
  return second % (5 * MINUTE) < MINUTE ? 1.8 : 0.05;
}

describe('nobody honest is doubted', () => {
  for (const [name, fleet] of [
    ['next to idle', { speeds: [1, 1, 1, 1], load: 0.01 }],
    ['overloaded', { speeds: [1, 1, 1, 1], load: 1.3 }],
    ['half as fast, LeastRequest', { speeds: [1, 1, 0.5, 0.5], load: 0.8, envoyLbPolicy: 'LeastRequest' }],
    ['six times as fast', { speeds: [6, 1, 1, 1, 1, 1], load: 0.8 }],
    ['four times as fast, of two', { speeds: [4, 1], load: 0.6 }],
    [
      'four times as fast, stays of a minute',
      { speeds: [4, 4, 1, 1, 1, 1, 1, 1], load: 0.15, staySeconds: 60 },
    ],
    ['sixteen with few requests', { speeds: Array.from({ length: 16 }, () => 1), load: 0.05 }],
    ['long contexts on one of two', { speeds: [1, 1], load: 0.5, longer: { 1: 4 } }],
    ['bursts', { speeds: [1, 1, 1, 1], load: bursts }],
    [
      'bursts, a queue left at one of them, Interval 15 s',
      { speeds: [1, 1, 1, 1], load: bursts, intervalSeconds: 15 },
    ],
    ['six times as fast, full and empty in turns', { speeds: [6, 1, 1], load: 1.1, intervalSeconds: 5 }],
    ['twenty times as fast', { speeds: [20, 1, 1, 1, 1, 1], load: 0.6, hasLatency: true }],
    [
      'eight times as fast, Interval 15 s',
      { speeds: [8, 1, 1, 1, 1, 1], load: 0.7, intervalSeconds: 15, hasLatency: true },
    ],
    [
      'requests of a twelfth of the length',
      { speeds: [1, 1, 1, 1], load: 0.9, longer: { 0: 1 / 12 }, hasLatency: true },
    ],
    ['stays below an interval', { speeds: [1, 1, 1, 0.5], load: 0.5, staySeconds: 0.3, slots: 4 }],
  ] as const) {
    test(name, () => {
      const { decisions } = runLyingFleet({ ...fleet, seconds: 15 * MINUTE });
      assert.equal(decisions.some(warned), false);
    });
  }

  for (const [name, fleet] of [
    ['six times as fast', { speeds: [6, 1, 1, 1, 1, 1], load: 0.8 }],
    ['four times as fast, of two', { speeds: [4, 1], load: 0.6 }],
    ['four times as fast, under Linear', { speeds: [4, 1, 1, 1], load: 0.6, policy: 'Linear' }],
  ] as const) {
    test(`${name}: believed`, () => {
      for (const seed of [301, 302]) {
        const { decisions } = runLyingFleet({ ...fleet, seconds: 15 * MINUTE, seed });
        const trusts = decisions.slice(MINUTE).map((of) => one(of, 0).basis.intake?.trust ?? 0);
        const mean = trusts.reduce((sum, trust) => sum + trust, 0) / trusts.length;
        assert.ok(mean > 0.99, `seed ${seed}: ${mean}`);
      }
    });
  }

  test('a handful of requests tells nothing: one idle beside one that finishes', () => {
    const steps = (step: number): readonly Answer[] => [{}, { running: 1, finished: Math.floor(step / 20) }];
    const fleet = new Fleet(2);
    for (let step = 0; step < 90; step++) assert.equal(isDoubted(fleet.step(steps(step))), false);
  });
});

test('explain says in words how far the gauges are believed, and the weights can be worked out', () => {
  const { decisions } = runLyingFleet(fleetOf(0.5, { lies: { [LIAR]: LIES.zero }, seconds: 3 * MINUTE }));
  const text = explainText(explanationOf(decisions.at(-1) as GroupDecision), {
    full: true,
    color: false,
    columns: undefined,
  });
  assert.match(text, /Trust in its gauges: 0[.\d]*; by its metrics \d[.\d]* requests came/);
  const { reasons } = one(decisions.at(-1) as GroupDecision, LIAR);
  assert.match(reasons.join(), /its metrics show less than it takes: what they show below the mean counts/);
  for (const decision of decisions) {
    const { decision: explained } = explanationOf(decision).published;
    const byHand = weightsByHand(explained);
    for (const of of explained.backends) {
      assert.ok(Math.abs((byHand.get(of.backend) ?? 0) - of.unditheredWeight) < 1e-3, of.backend);
    }
  }
});

test('explain says why who is doubted has no speed', () => {
  const fleet = fleetOf(1, { load: 0.4, slots: 64, lies: { [LIAR]: LIES.stuck }, seconds: 5 * MINUTE });
  const [doubted] = runLyingFleet(fleet).decisions.filter(isDoubted).slice(-1);
  assert.ok(doubted);
  const text = explainText(explanationOf(doubted), { full: true, color: false, columns: undefined });
  assert.equal(text.split('Speed: 1 while its metrics are doubted').length, 2, 'of one of them');
});

describe('a gauge that was absurd for ten seconds', () => {
  const truth = (step: number): Answer => ({
    running: 10,
    kvUtilization: 0.3 + (step % 5) / 100,
    finished: 2 * step,
  });
  const absurd = (step: number): Answer => ({ ...(truth(step) as object), running: 1e6, queued: 1e6 });

  for (const count of [2, 3, 8]) {
    test(`is forgotten a minute later, of ${count}`, () => {
      const fleet = new Fleet(count);
      const answers = (step: number): readonly Answer[] =>
        Array.from({ length: count }, (_, index) =>
          index === LIAR && step >= 120 && step < 130 ? absurd(step) : truth(step),
        );
      const before = fleet.steps(130, answers);
      const after = fleet.steps(60, (step) => answers(step + 130));
      assert.ok(one(after, LIAR).relativeWeight > 0.5, `${one(after, LIAR).relativeWeight}`);
      assert.equal(one(after, LIAR).health, 'HEALTHY');
      for (const { relativeWeight, doubted } of after.backends.slice(1)) {
        assert.ok(relativeWeight >= 0.99 && !doubted, `${relativeWeight}`);
      }
      assert.ok(after.staySeconds < 2 * 5 && after.gain > 0, `${before.staySeconds}, ${after.staySeconds}`);
    });
  }

  test('a slow server that holds several times as much is no such case', () => {
    const decision = new Fleet(4).steps(120, (step) => [
      { running: 60, kvUtilization: 0.6 + (step % 5) / 100, finished: 2 * step },
      ...Array.from({ length: 3 }, () => ({
        running: 20,
        kvUtilization: 0.2 + (step % 5) / 100,
        finished: 2 * step,
      })),
    ]);
    const [slow, other] = [one(decision, LIAR).basis.speed, one(decision, 1).basis.speed];
    assert.ok(slow < 0.5 * other, `${slow} and ${other}`);
  });
});

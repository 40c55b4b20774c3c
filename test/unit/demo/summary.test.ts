import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Act, type ActNumber, planActs } from '../../../src/demo/acts.ts';
import { checkActs } from '../../../src/demo/checks.ts';
import type { LoadResult, Outcome } from '../../../src/demo/load.ts';
import { quantile } from '../../../src/demo/quantile.ts';
import { type ActSummary, summarize } from '../../../src/demo/summary.ts';

const ACTS = planActs({ seconds: 120, seed: 1, capacityPerSecond: 20 });

function act(number: ActNumber): Act {
  const found = ACTS.find((candidate) => candidate.number === number);
  assert.ok(found !== undefined);
  return found;
}

function result(outcome: Outcome, atMs: number, firstTokenMs?: number, backend?: string): LoadResult {
  const arrival = { atMs, promptTokens: 1, outputTokens: 1 };
  return { arrival, outcome, backend, firstTokenMs, endMs: 1, lateMs: 0, retried: false };
}

const OK: Outcome = { kind: 'ok' };
const SHED: Outcome = { kind: 'no_upstream', retryAfter: '1' };

test('acts 1 and 2 have the same arrivals, the others their own', () => {
  assert.deepEqual(act(1).arrivals, act(2).arrivals);
  assert.notDeepEqual(act(4).arrivals, act(5).arrivals);
  assert.ok(ACTS.reduce((sum, { seconds }) => sum + seconds, 0) < 120);
});

test('act 4 can go on, with the same load, until no share is refused any more', () => {
  const { seconds, arrivals, overtime } = act(4);
  assert.ok(overtime.every(({ atMs }) => atMs >= seconds * 1000 && atMs < (seconds + 20) * 1000));
  const ratio = overtime.length / 20 / (arrivals.length / seconds);
  assert.ok(ratio > 0.8 && ratio < 1.25, String(ratio));
  assert.ok(ACTS.every((one) => one.number === 4 || one.overtime.length === 0));
});

test('quantiles are values that were seen', () => {
  const values = [5, 1, 4, 2, 3];
  assert.deepEqual([quantile(values, 0.5), quantile(values, 0.95), quantile(values, 0)], [3, 5, 1]);
  assert.ok(Number.isNaN(quantile([], 0.5)));
});

test('a request without a first token counts as the slowest', () => {
  const results = [result(OK, 0, 10, 'a'), result(OK, 5, 20, 'b'), result(SHED, 9)];
  const summary = summarize(act(3), results);
  assert.deepEqual([summary.firstTokenP50Ms, summary.firstTokenP95Ms], [20, Number.POSITIVE_INFINITY]);
  assert.deepEqual([summary.ok, summary.noUpstream, summary.withinSecond], [2, 1, 2 / 3]);
  assert.deepEqual(summary.failures, new Map());
  assert.equal(summary.firstOkMs, 10);
});

test('of an overload: how much was refused, how evenly, and what became of the others', () => {
  const { settled, settledShed, lastRefusedMs } = summarize(act(3), overload(20), [0, 0.2, 0.4, 0.5, 0.6]);
  assert.deepEqual(settled, { share: 0.5, deviation: 0, servedInTime: 1 });
  assert.equal(settledShed, 0.5, 'without the first two of five');
  assert.equal(lastRefusedMs, 19_500);
  assert.equal(summarize(act(3), overload(20, 'first')).settled.deviation, 0.5);
  assert.equal(summarize(act(3), overload(20, 'evenly', 1001)).settled.servedInTime, 0);
});

test('what came before it has settled does not count', () => {
  const early = Array.from({ length: 50 }, (_, index) => result(SHED, 100 * index));
  assert.equal(summarize(act(3), [...early, ...overload(20)]).settled.share, 0.5);
});

test('failures are told apart', () => {
  const failures: Outcome[] = [
    { kind: 'status', status: 500, body: '' },
    { kind: 'reset', message: '' },
    { kind: 'reset', message: '' },
    { kind: 'cut', message: '' },
  ];
  const summary = summarize(
    act(5),
    failures.map((outcome) => result(outcome, 0)),
  );
  assert.deepEqual(
    summary.failures,
    new Map([
      ['status 500', 1],
      ['reset', 2],
      ['cut', 1],
    ]),
  );
  assert.equal(summary.firstOkMs, undefined);
});

/** Of 40 requests in ten seconds so many are shed, every other one or all at the beginning. */
function overload(shed: number, order: 'evenly' | 'first' = 'evenly', firstTokenMs = 1000): LoadResult[] {
  return Array.from({ length: 40 }, (_, index) => {
    const isShed = order === 'first' ? index < shed : index % 2 === 0 && index < 2 * shed;
    return result(isShed ? SHED : OK, 10_000 + 250 * index, isShed ? undefined : firstTokenMs);
  });
}

/** Of act 5, whose control plane is killed after a second. */
function killed(results: readonly LoadResult[], shed = 0): ActSummary {
  return summarize(act(5), results, [], { atMs: 1000, shed });
}

describe('checks', () => {
  const good = (): ActSummary[] => [
    summarize(act(1), [result(OK, 0, 1000)]),
    summarize(act(2), [result(OK, 0, 700)]),
    summarize(act(3), overload(20)),
    summarize(act(4), [result(SHED, 15_000), result(OK, 4000, 1000)]),
    killed([result(SHED, 0), result(OK, 2000, 1)]),
  ];
  const failing = (summaries: readonly ActSummary[]): readonly number[] =>
    checkActs(summaries).flatMap(({ ok }, index) => (ok ? [] : [index]));

  test('all hold at their limits', () => {
    assert.deepEqual(failing(good()), []);
  });

  const bad: readonly (readonly [string, number, ActSummary])[] = [
    ['act 2 is not fast enough', 0, summarize(act(2), [result(OK, 0, 701)])],
    ['19 requests were shed', 1, summarize(act(3), overload(19))],
    ['first all and then nothing was shed', 2, summarize(act(3), overload(20, 'first'))],
    ['who was let in waited', 3, summarize(act(3), overload(20, 'evenly', 1001))],
    ['a request was shed late', 4, summarize(act(4), [result(SHED, 15_001), result(OK, 0, 1)])],
    ['no 200 came', 4, summarize(act(4), [result(SHED, 0)])],
    ['a request failed', 5, killed([result(OK, 2000, 1), result({ kind: 'cut', message: '' }, 2001)])],
    [
      'one failed that was sent before',
      5,
      killed([{ ...result({ kind: 'cut', message: '' }, 0), endMs: 1000 }]),
    ],
    ['a request was shed', 5, killed([result(OK, 2000, 1), result(SHED, 2001)])],
    ['nothing was asked any more', 5, killed([result(OK, 0, 1)])],
    ['nothing was killed', 5, summarize(act(5), [result(OK, 2000, 1)])],
  ];
  for (const [name, index, summary] of bad) {
    test(name, () => {
      const summaries = good();
      summaries[summary.act.number - 1] = summary;
      assert.deepEqual(failing(summaries), [index]);
    });
  }

  test('what sidecars refused already when the control plane died is told beside', () => {
    const words = (shed: number): string | undefined =>
      checkActs([killed([result(SHED, 1500), result(OK, 2000, 1)], shed)]).at(-1)?.measured;
    const failed = '1 of 2 requests failed that ended after the kill, at most 0';
    assert.equal(words(0), failed);
    assert.equal(
      words(0.08),
      `${failed}; when it was killed sidecars still had to refuse p = 8%, and go on with it`,
    );
    assert.match(words(Number.NaN) ?? '', /still had to refuse an unknown share/);
  });

  test('an act that was not played fails', () => {
    assert.deepEqual(failing([]), [0, 1, 2, 3, 4, 5]);
  });
});

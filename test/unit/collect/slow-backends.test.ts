import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Backend } from '../../../src/core/model/backend.ts';
import { CollectorBench, page, refused, whatOf } from '../../support/collector-bench.ts';
import { backend } from '../../support/decisions.ts';

const FAST = [1, 2, 3, 4, 5, 6, 7].map((last) => backend(last));
const SLOW = backend(8);

type Timing = NonNullable<ConstructorParameters<typeof CollectorBench>[0]>;

/** Eight backends that answer after 10 ms; it is shortly before the second run. */
async function started(timing: Timing = {}): Promise<CollectorBench> {
  const bench = new CollectorBench(timing);
  setAll(bench, 10);
  bench.set(SLOW, 10, page(1));
  bench.start(...FAST, SLOW);
  await bench.clock.advance(900 * (timing.intervalSeconds ?? 1));
  return bench;
}

function setAll(bench: CollectorBench, afterMs: number | undefined): void {
  for (const of of [...FAST, SLOW]) bench.set(of, afterMs, page(1));
}

/** How long each run took since `from`. */
function lengths(bench: CollectorBench, from = 1): readonly number[] {
  return bench.runs.slice(from).map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs);
}

/** What each run has of a backend: queued requests and the answer's age at the run's end, or the reason. */
function answersOf(bench: CollectorBench, { id }: Backend): readonly string[] {
  return bench.runs.slice(1).map(({ outcomes, endedAtMs }) => {
    const outcome = outcomes.get(id);
    if (outcome === undefined) return 'none';
    return `${whatOf(outcome)}, ${endedAtMs - outcome.atMs} ms old`;
  });
}

test('one that hangs holds the others up once, for a moment', async () => {
  const bench = await started({ timeoutSeconds: 300 });
  bench.set(SLOW, undefined);
  await bench.clock.advance(600_000);
  // 300 s later it has failed, is asked again, and not waited for
  assert.deepEqual([...new Set(lengths(bench).slice(1))], [10]);
  assert.deepEqual(lengths(bench)[0], 50);
  await bench.stop();
});

const MOMENTS: readonly (readonly [intervalSeconds: number, moment: number, of: string])[] = [
  [0.1, 25, '25 ms'],
  [0.8, 40, 'a tenth of the gather limit'],
  [15, 750, 'a twentieth of the interval'],
  [50, 1000, 'the gather limit and no more'],
];
for (const [intervalSeconds, moment, of] of MOMENTS) {
  test(`the moment at Interval ${intervalSeconds}: ${of}`, async () => {
    const bench = await started({ timeoutSeconds: 300, intervalSeconds });
    bench.set(SLOW, undefined);
    await bench.clock.advance(3 * intervalSeconds * 1000);
    assert.deepEqual(lengths(bench).slice(0, 3), [moment, 10, 10]);
    await bench.stop();
  });
}

for (const intervalSeconds of [5, 15, 50]) {
  test(`one that is slower than the others by a small part of Interval ${intervalSeconds} counts at once, each time`, async () => {
    const bench = await started({ intervalSeconds });
    bench.set(SLOW, 150, page(7));
    await bench.clock.advance(3 * intervalSeconds * 1000);
    assert.deepEqual(lengths(bench), [150, 150, 150]);
    assert.deepEqual([...new Set(answersOf(bench, SLOW))], ['7, 0 ms old']);
    await bench.stop();
  });
}

test('at a long Interval, too, one that was too slow is waited for again after one that is not', async () => {
  const bench = await started({ intervalSeconds: 15 });
  bench.set(SLOW, 900, page(7));
  await bench.clock.advance(30_000);
  bench.set(SLOW, 150, page(8));
  await bench.clock.advance(30_000);
  assert.deepEqual(lengths(bench), [750, 10, 10, 150]);
  assert.deepEqual(answersOf(bench, SLOW), ['none', '7, 14110 ms old', '7, 14110 ms old', '8, 0 ms old']);
  await bench.stop();
});

test('one that fails by Timeout each time does not hold the others up', async () => {
  const bench = await started();
  bench.set(SLOW, undefined);
  await bench.clock.advance(5000);
  assert.deepEqual(lengths(bench), [50, 10, 10, 10, 10]);
  assert.deepEqual(answersOf(bench, SLOW), [
    'none',
    'timeout, 10 ms old',
    'timeout, 10 ms old',
    'timeout, 10 ms old',
    'timeout, 10 ms old',
  ]);
  await bench.stop();
});

test('a slow one counts in the run after, with its age, and is waited for again once it is fast', async () => {
  const bench = await started();
  bench.set(SLOW, 800, page(7));
  await bench.clock.advance(3000);
  bench.set(SLOW, 12, page(8));
  await bench.clock.advance(1000);
  bench.set(SLOW, 45, page(9));
  await bench.clock.advance(1000);
  assert.deepEqual(lengths(bench), [50, 10, 10, 10, 45]);
  assert.deepEqual(answersOf(bench, SLOW), [
    'none',
    '7, 210 ms old',
    '7, 210 ms old',
    // the fast answer came 2 ms after the run
    '7, 210 ms old',
    '9, 0 ms old',
  ]);
  await bench.stop();
});

test('one that is slow every other time holds the others up for no more than a moment', async () => {
  const bench = await started();
  for (const afterMs of [800, 10, 800, 10]) {
    bench.set(SLOW, afterMs);
    await bench.clock.advance(1000);
  }
  assert.deepEqual(lengths(bench), [50, 10, 50, 10]);
  await bench.stop();
});

test('a fleet that is slow as a whole is waited for', async () => {
  const bench = await started();
  setAll(bench, 300);
  await bench.clock.advance(3000);
  assert.deepEqual(lengths(bench), [300, 300, 300]);
  assert.deepEqual(answersOf(bench, SLOW).at(-1), '1, 0 ms old');
  await bench.stop();
});

test('a fleet that is slower than the limit is evaluated on its late answers, without waiting in vain', async () => {
  const bench = await started();
  setAll(bench, 700);
  await bench.clock.advance(3000);
  assert.deepEqual(lengths(bench), [500, 50, 50]);
  assert.deepEqual(answersOf(bench, SLOW), ['none', '1, 350 ms old', '1, 350 ms old']);
  setAll(bench, 10);
  await bench.clock.advance(2000);
  assert.deepEqual(lengths(bench), [500, 50, 50, 10, 10]);
  assert.deepEqual(answersOf(bench, SLOW).at(-1), '1, 0 ms old');
  await bench.stop();
});

test('a fleet that hangs as a whole is back at once when it is back', async () => {
  const bench = await started();
  setAll(bench, undefined);
  await bench.clock.advance(3000);
  assert.deepEqual(lengths(bench), [500, 50, 50]);
  setAll(bench, 10);
  await bench.clock.advance(2000);
  assert.deepEqual(answersOf(bench, SLOW).at(-1), '1, 0 ms old');
  assert.deepEqual(lengths(bench).slice(-1), [10]);
  await bench.stop();
});

test('many that are slow hold up the few that are fast no more than one does', async () => {
  const bench = await started();
  for (const of of FAST.slice(2)) bench.set(of, 800);
  await bench.clock.advance(3000);
  assert.deepEqual(lengths(bench), [500, 10, 10]);
  await bench.stop();
});

test('those that refuse do not make the others look slow', async () => {
  const bench = await started();
  for (const of of FAST.slice(1)) bench.set(of, 1, refused);
  bench.set(SLOW, 200, page(5));
  await bench.clock.advance(1000);
  // one of the two that answer takes 10 ms, and so the other has its moment
  assert.deepEqual(lengths(bench), [50]);
  await bench.clock.advance(1000);
  assert.deepEqual(answersOf(bench, SLOW), ['none', '5, 810 ms old']);
  await bench.stop();
});

test('the first run waits for all, and knows who is slow afterwards', async () => {
  const bench = new CollectorBench();
  setAll(bench, 10);
  bench.set(SLOW, 900, page(30));
  bench.start(...FAST, SLOW);
  await bench.clock.advance(3500);
  assert.deepEqual(lengths(bench, 0), [900, 10, 10, 10]);
  assert.equal(bench.runs[0]?.outcomes.size, 8);
  await bench.stop();
});

test('in a large group the last one asked has its time, and one that hangs does not delay the rest', async () => {
  const many = Array.from({ length: 300 }, (_, index) => backend(index, { port: 1000 + index }));
  const bench = new CollectorBench({ timeoutSeconds: 300 });
  for (const of of many) bench.set(of, 30);
  bench.start(...many);
  await bench.clock.advance(1900);
  const [hung] = many as [Backend];
  bench.set(hung, undefined);
  await bench.clock.advance(2000);
  assert.deepEqual(
    bench.runs.slice(1).map(({ outcomes }) => outcomes.size),
    [299, 299],
  );
  const [first = 0, second = 0] = lengths(bench);
  assert.ok(first > 280 && first <= 310, `the first took ${first} ms`);
  assert.ok(second > 200 && second <= 280, `the second run took ${second} ms`);
  await bench.stop();
});

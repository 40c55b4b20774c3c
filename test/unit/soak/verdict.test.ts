import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../../src/demo/random.ts';
import type { Resident, Sample } from '../../soak/sampler.ts';
import { errorPerHour, judge, type Measured, perHour } from '../../soak/verdict.ts';

const MEGABYTE = 1e6;

/** An hour of samples, with noise as faults and garbage make it. Memory and code grow by so many MB an hour. */
function samples(growth: number, { seconds = 3600, generation = 1, codeGrowth = 0 } = {}): readonly Sample[] {
  const random = createRandom(9);
  return Array.from({ length: seconds / 15 }, (_, index) => {
    const hours = (15 * index) / 3600;
    const grown = growth * MEGABYTE * hours;
    const burst = random.uniform() < 0.2 ? 5 * MEGABYTE * random.uniform() : 0;
    return {
      seconds: 15 * index,
      generation,
      rss: 150 * MEGABYTE + grown + MEGABYTE * random.normal() + burst,
      heap: 60 * MEGABYTE,
      heapAfter: 30 * MEGABYTE + grown + 0.1 * MEGABYTE * random.uniform() + burst,
      codeAfter: (4 + codeGrowth * hours) * MEGABYTE,
      files: 270,
      pushes: index,
      mode: 'balanced',
      streams: 52,
      requests: 600 * index,
      own: 0,
      ours: 0,
      fault: '',
    };
  });
}

/** Each second of as long as the samples, with a saw-tooth of 5 MB that has a period of 25 s. */
function resident(growth: number, of: readonly Sample[]): readonly Resident[] {
  const random = createRandom(7);
  const seconds = of.at(-1)?.seconds ?? 0;
  return Array.from({ length: seconds }, (_, second) => {
    const generation = of.findLast((one) => one.seconds <= second)?.generation ?? 1;
    const value = (150 + (growth * second) / 3600 + 0.2 * (second % 25) + random.uniform()) * MEGABYTE;
    return { seconds: second, generation, value };
  });
}

const measured = (change: Partial<Measured> = {}): Measured => ({
  samples: samples(0),
  resident: resident(0, change.samples ?? samples(0)),
  ours: 0,
  filesBefore: 270,
  filesAfter: 271,
  faults: new Map(),
  unsettled: [],
  ...change,
});

test('an hour without growth holds', () => {
  const { broken, judged, heap, rss } = judge(measured());
  assert.deepEqual(broken, []);
  assert.equal(judged, true);
  assert.ok(Math.abs(perHour(heap)) < 0.2 && Math.abs(perHour(rss)) < 0.3);
});

test('a leak of 2 MB an hour does not', () => {
  const { broken, heap } = judge(measured({ samples: samples(2) }));
  assert.ok(Math.abs(perHour(heap) - 2) < 0.2);
  assert.match(broken.join('\n'), /^heap grows by (1\.9|2\.0)\d MB an hour, the limit is 1$/m);
});

test('nor does resident memory that grows beside a heap that holds, whatever its saw-tooth', () => {
  const { broken, rss, usualRss } = judge(measured({ resident: resident(1.5, samples(0)) }));
  assert.ok(errorPerHour(rss) < 0.3 && perHour(usualRss) > 1.2);
  assert.deepEqual(
    broken.map((words) => words.replace(/1\.[2-7]\d/, 'so many')),
    ['resident memory', 'resident memory with its garbage'].map(
      (what) => `${what} grows by so many MB an hour, the limit is 1`,
    ),
  );
});

test('how much of it is code is told, and the code alone is not judged', () => {
  const { broken, code, heap } = judge(measured({ samples: samples(0.5, { codeGrowth: 3 }) }));
  assert.ok(Math.abs(perHour(code) - 3) < 0.1 && errorPerHour(code) < 0.1);
  assert.ok(Math.abs(perHour(heap) - 0.5) < 0.2);
  assert.equal(code.windows.length, heap.windows.length);
  assert.deepEqual(broken, []);
});

test('what did not say how much code it has tells no slope of it, and is judged by the rest', () => {
  const silent = samples(0).map((sample) => ({ ...sample, codeAfter: null }));
  const { broken, code } = judge(measured({ samples: silent }));
  assert.ok(Number.isNaN(perHour(code)));
  assert.deepEqual(broken, []);
});

test('a short run tells its slope and is not judged by it', () => {
  const { broken, judged, heap } = judge(measured({ samples: samples(50, { seconds: 900 }) }));
  assert.equal(judged, false);
  assert.ok(perHour(heap) > 40);
  assert.deepEqual(broken, []);
});

test('the process that lived longest is watched, and what came before it is not', () => {
  const old = samples(500, { seconds: 1200 });
  const young = samples(0, { generation: 2 }).map((sample) => ({
    ...sample,
    seconds: sample.seconds + 1200,
  }));
  const { warmSeconds, watchedSeconds, broken } = judge(measured({ samples: [...old, ...young] }));
  assert.deepEqual([warmSeconds, watchedSeconds], [1195, 3585 - 1200]);
  assert.deepEqual(broken, []);
});

test('without any samples it does not hold', () => {
  const gone = samples(0).map((sample) => ({ ...sample, heapAfter: null }));
  assert.deepEqual(judge(measured({ samples: gone, resident: [], filesAfter: null })).broken, [
    'heap: nothing was measured',
    'resident memory: nothing was measured',
    'resident memory with its garbage: nothing was measured',
    'the control plane did not say how many files are open',
  ]);
});

test('whatever else went wrong is told', () => {
  const record = { times: 1, requests: 9, pushes: 1, backSeconds: 1, errors: [] };
  const { broken } = judge(
    measured({
      ours: 3,
      filesAfter: 300,
      faults: new Map([
        ['good', record],
        ['odd', { ...record, errors: ['no such file'] }],
        ['stuck', { ...record, backSeconds: Infinity }],
      ]),
      unsettled: ['at the end requests are refused'],
    }),
  );
  assert.deepEqual(broken, [
    '3 requests failed, and no fault had claimed them',
    '300 files are open at rest after the faults, 270 were before',
    'odd: could not be played: no such file',
    'stuck: weights did not follow the load again',
    'at the end requests are refused',
  ]);
});

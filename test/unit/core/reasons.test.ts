import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { backends, Fleet, one } from '../../support/fleet.ts';

test('reasons come with what decides most first: sample, saturation, load, capacity, slow start', () => {
  const fleet = new Fleet(3);
  const rest = (step: number) => [
    { running: 10 + (step % 2), finished: step },
    { running: 10 + (step % 2), finished: step },
  ];
  fleet.step([...rest(0), { running: 10 }]);
  fleet.reload(backends(4));
  const loaded = (step: number, queued: number) => [
    ...rest(step),
    { queued, running: 20, finished: step },
    { running: 40, finished: step },
  ];
  fleet.steps(13, (step) => loaded(step, 9));
  fleet.step(loaded(13, 11));
  const decision = fleet.step([...rest(15), 'timeout', { running: 41 }]);
  assert.deepEqual(
    one(decision, 2).reasons.map((reason) => reason.replace(/\d+(\.\d+)?/g, '#')),
    [
      'timeout, no metrics in # collection: its last sample counts',
      'saturated: # queued (marked above #, cleared at #)',
      'heavier than the mean: weight × #',
      'learned capacity: weight × #',
    ],
  );
  assert.match(
    one(decision, 3).reasons.join('; '),
    /slow start, joined 14 s ago: at most 0\.47 of the mean weight/,
  );
});

test('a backend that is like the others needs no reason', () => {
  const decision = new Fleet(2).step([{ running: 3 }, { running: 3 }]);
  assert.deepEqual(
    decision.backends.map((of) => of.reasons),
    [[], []],
  );
});

test('saturation by running requests names them, and an unknown queue is unknown', () => {
  const saturation = {
    totalQueuedRequests: { mark: 10, clear: 3 },
    kvCacheUtilization: { mark: 0.98 },
    runningRequests: { mark: 20, clear: 10 },
    admission: 'None' as const,
  };
  const decision = new Fleet(2, { saturation }).step([
    { queued: undefined, kvUtilization: undefined, running: 21 },
    { running: 1 },
  ]);
  assert.match(
    one(decision, 0).reasons[0] ?? '',
    /^saturated: 21 running \(marked above 20, cleared at 10\), unknown queued \(cleared at 3\)$/,
  );
});

test('saturation by the KV cache names it and the queue; what did not set the mark is left out', () => {
  const full = { queued: 4, kvUtilization: 0.99, running: 9 };
  const decision = new Fleet(2).step([full, { running: 1 }]);
  assert.equal(
    one(decision, 0).reasons[0],
    'saturated: KV cache 0.99 (marked from 0.98 with a queue), 4 queued (cleared at 3)',
  );
});

test('a warning names at most five backends', () => {
  const fleet = new Fleet(8);
  const stuck = { running: 4, kvUtilization: 0.2 };
  const { warnings } = fleet.steps(12, (step) => [
    ...Array.from({ length: 7 }, () => stuck),
    { running: 4, finished: step },
  ]);
  const names = [1, 2, 3, 4, 5].map((last) => `10.0.3.${last}:8000`).join(', ');
  assert.deepEqual(warnings, [`gauges stand still: ${names} and 2 more`]);
});

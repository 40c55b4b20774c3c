import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../faults/judge.ts';
import type { Measured } from '../../faults/measured.ts';
import type { Failure, Row } from '../../faults/model.ts';

const MIB = 1024 * 1024;

const ROW: Row = {
  part: 'backends',
  name: 'some fault',
  happens: 'something',
  faultsOwn: 'none',
  fault: () => ({ targets: [], apply: () => Promise.resolve(), undo: () => Promise.resolve() }),
  holdSeconds: 5,
  notice: { what: 'it is seen', withinSeconds: 4, when: () => true },
  throughout: { what: 'all healthy', holds: () => true },
  targetsGetAtMost: 0.1,
  recover: { withinSeconds: 3 },
};

const HELD: Measured = {
  seconds: 12,
  requests: 360,
  own: [],
  ours: [],
  noticedSeconds: 2,
  recoveredSeconds: 1,
  targetsShare: 0.05,
  targetsRequests: 8,
  rush: 1.5,
  pushes: 12,
  surplusPushes: 1,
  before: { memory: 100 * MIB, handles: 40 },
  after: { memory: 110 * MIB, handles: 42 },
  capacities: [0.9, 1.1],
  brokenAt: undefined,
  stallSeconds: 0.1,
  trace: [],
  log: [],
  alive: true,
};

const FAILURE: Failure = { kind: 'broken', detail: 'ECONNRESET', backend: 'b', sentAt: 3, endedAt: 4 };

test('a row within all its limits holds', () => {
  assert.deepEqual(judge(ROW, HELD), []);
});

const CASES: readonly (readonly [string, Partial<Measured>, RegExp])[] = [
  [
    'a failure of ours',
    { ours: [FAILURE] },
    /^1 requests failed by our fault: broken ECONNRESET b \(3\.0 to 4\.0 s\)$/,
  ],
  ['no load', { requests: 0 }, /^no request was sent$/],
  ['noticed late', { noticedSeconds: 5 }, /^it is seen: after 5\.0 s, must be within 4 s$/],
  ['never noticed', { noticedSeconds: undefined }, /^it is seen: not noticed/],
  ['recovered late', { recoveredSeconds: 4 }, /^recovered after 4\.0 s, must be within 3 s$/],
  ['never recovered', { recoveredSeconds: undefined }, /^recovered not/],
  [
    'too much to its targets',
    { targetsShare: 0.2 },
    /^its targets got 20\.0 % of the requests, must be at most 10\.0 %$/,
  ],
  ['broken throughout', { brokenAt: 3 }, /^not throughout, first after 3\.0 s: all healthy$/],
  ['a stampede', { rush: 4 }, /^a stampede: one backend got 4\.0 times its share$/],
  ['too many pushes', { pushes: 14 }, /^a push storm: 14 pushes, must be at most 13$/],
  ['pushes without an evaluation', { surplusPushes: 2 }, /^a push storm: 2 pushes more than evaluations/],
  ['learned beyond its bounds', { capacities: [0.9, 3.2] }, /^learned capacity from 0\.90 to 3\.20/],
  ['ended', { alive: false }, /^the control plane ended/],
  ['memory', { after: { memory: 133 * MIB, handles: 42 } }, /^memory grew by 33 MiB/],
  ['handles', { after: { memory: 110 * MIB, handles: 49 } }, /^9 more open files/],
];

for (const [name, measured, expected] of CASES) {
  test(`a row is broken by: ${name}`, () => {
    const broken = judge(ROW, { ...HELD, ...measured });
    assert.equal(broken.length, 1, broken.join('; '));
    assert.match(broken[0] ?? '', expected);
  });
}

test('what a row allows besides does not break it', () => {
  const measured = { ...HELD, pushes: 15, surplusPushes: 3, rush: 5, targetsShare: Number.NaN };
  const after = { memory: 150 * MIB, handles: 42 };
  const row = { ...ROW, extraPushes: 2, mostShareAfter: 0.5, growthMiB: 64 };
  assert.deepEqual(judge(row, { ...measured, after }), []);
});

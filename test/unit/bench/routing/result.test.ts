import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fate } from '../../../bench/routing/generator.ts';
import type { CellSpec } from '../../../bench/routing/model.ts';
import { type Measured, resultOf } from '../../../bench/routing/result.ts';
import type { Offered } from '../../../bench/routing/trace.ts';

const SPEC: CellSpec = {
  scenario: {
    name: 'test',
    title: 'test',
    backends: 2,
    stay: 'short',
    warmUpSeconds: 1,
    stretches: [{ seconds: 3, load: 0.5 }],
  },
  arm: 'round-robin',
  sidecars: 1,
  seed: 1,
  rateFactor: 1,
};

function offered(atMs: number, promptTokens = 10): Offered {
  return { atMs, promptTokens, outputTokens: 1, sidecar: 0, cancelled: false };
}

function fate(of: Partial<Fate>): Fate {
  return {
    outcome: 'ok',
    backend: 'a:1',
    firstTokenMs: 10,
    endMs: 20,
    lateMs: 1,
    retried: false,
    overrun: false,
    failure: undefined,
    ...of,
  };
}

function result(rows: readonly (readonly [Offered, Fate | undefined])[], figures = {}) {
  const measured: Measured = {
    spec: SPEC,
    attempt: 1,
    offered: rows.map(([request]) => request),
    fates: rows.map(([, became]) => became),
    figures: {
      insideCv: 0.1,
      published: undefined,
      machineCpu: 0.5,
      cpuSeconds: { envoys: 1, backends: 2, generator: 3 },
      controlPlane: null,
      ...figures,
    },
    backends: ['a:1', 'b:2'].map((id) => ({ id, address: '', port: 0, inside: 0 })),
  };
  return resultOf(measured);
}

test('counted requests in columns; times after the warm-up', () => {
  const { requests, spread, failures } = result([
    [offered(999), fate({})],
    [offered(1000.04), fate({ firstTokenMs: 12.345, backend: 'b:2' })],
    [offered(1500, 1500), fate({ outcome: 'shed', backend: undefined, firstTokenMs: undefined })],
    [offered(2000), fate({ outcome: 'unfinished', firstTokenMs: undefined, endMs: 77 })],
    [offered(2500), fate({ outcome: 'failed', failure: 'status 500', retried: true })],
    [offered(3000), undefined],
  ]);
  assert.deepEqual(requests, {
    atMs: [0, 500, 1000, 1500, 2000],
    long: [0, 1, 0, 0, 0],
    outcome: ['ok', 'shed', 'unfinished', 'failed', 'unfinished'],
    firstTokenMs: [12.3, null, null, 10, null],
    endMs: [20, 20, null, 20, null],
    backend: [1, null, 0, 0, null],
    retried: [0, 0, 0, 1, 0],
  });
  assert.deepEqual(spread, { insideCv: 0.1, served: [2 / 3, 1 / 3] });
  assert.deepEqual(failures, { 'status 500': 1 });
});

test('a cell counts while the generator is in time, the machine has room and all was sent', () => {
  const late = (lateMs: number) => [[offered(1000), fate({ lateMs })] as const];
  assert.deepEqual(result(late(20), { machineCpu: 0.9 }).disturbances, []);
  assert.deepEqual(result(late(20.6), { machineCpu: 0.94 }).disturbances, [
    'the generator was 21 ms late at p99, at most 20 are allowed',
    '94 % of the machine were in use, at most 90 % are allowed',
  ]);
  const overrun = result([[offered(1000), fate({ outcome: 'failed', overrun: true })]]);
  assert.deepEqual(overrun.disturbances, ['1 requests were not sent: too many were in flight']);
});

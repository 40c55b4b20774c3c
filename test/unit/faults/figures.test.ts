import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capacitiesIn, mostShareIn, pushesIn } from '../../faults/figures.ts';
import type { BackendLook, Look, PlaneLook } from '../../faults/model.ts';

function look(pushes: number, evaluations: number, capacities: readonly number[] = []): Look {
  const backends = capacities.map(
    (capacity, index): BackendLook => ({
      id: String(index),
      weight: 1,
      share: 1,
      health: 'HEALTHY',
      frozen: false,
      asleep: false,
      missed: 0,
      capacity,
      target: false,
    }),
  );
  const plane: PlaneLook = {
    mode: 'balanced',
    shed: 0,
    warnings: 0,
    pushes,
    evaluations,
    streams: 2,
    sidecarsBehind: 0,
    sidecarsRefusing: 0,
    reloaded: 1,
    backends,
    page: '',
  };
  return { at: 0, plane, sidecars: [] };
}

const SILENT: Look = { at: 0, plane: undefined, sidecars: [] };

test('pushes are counted from the first look on, over restarts', () => {
  const looks = [look(100, 200), look(102, 203), SILENT, look(1, 1), look(3, 4)];
  assert.deepEqual(pushesIn(looks), { pushes: 5, surplusPushes: 0 });
});

test('a storm shows however few pushes came before and after it', () => {
  const looks = [look(0, 0), look(1, 10), look(6, 11), look(7, 12), look(7, 40)];
  assert.deepEqual(pushesIn(looks), { pushes: 7, surplusPushes: 4 });
});

test('a push that is seen later than its evaluation is one too many at most', () => {
  assert.deepEqual(pushesIn([look(0, 0), look(0, 1), look(2, 2)]), { pushes: 2, surplusPushes: 1 });
});

test('capacities are the extremes of all looks; what is not known does not count', () => {
  assert.deepEqual(capacitiesIn([look(0, 0, [1, 2, Number.NaN]), SILENT, look(0, 0, [0.5])]), [0.5, 2]);
});

test('the most that one backend got is of a stretch of 3 s with enough requests, and of those that were answered', () => {
  const answered = (backend: string, sentMs: number, outcome: 'ok' | 'shed' = 'ok') => ({
    sentMs,
    endedMs: sentMs + 10,
    backend,
    outcome,
    detail: '',
  });
  const many = (count: number, backend: string, sentMs: number) =>
    Array.from({ length: count }, () => answered(backend, sentMs));
  const before = many(90, 'a', 900);
  const first = [...many(20, 'a', 1_000), ...many(20, 'b', 3_999), answered('a', 2_000, 'shed')];
  const second = [...many(10, 'a', 4_000), ...many(30, 'b', 6_900)];
  const few = many(29, 'a', 7_000);
  assert.equal(mostShareIn([...before, ...first, ...second, ...few], 1_000), 0.75);
  assert.ok(Number.isNaN(mostShareIn(before, 1_000)), 'nothing was answered');
});

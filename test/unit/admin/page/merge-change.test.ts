import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mergeChange } from '../../../../src/admin/page/merge-change.ts';
import { HISTORY_SERIES, type GroupChange, type HistoryPoint } from '../../../../src/admin/state-shape.ts';
import { healthyRow, NOW, scriptedGroup, scriptedState } from '../../../support/scripted-state.ts';

function point(at: number, queued: number): HistoryPoint {
  const values = Object.fromEntries(HISTORY_SERIES.map((name) => [name, 0])) as Omit<HistoryPoint, 'at'>;
  return { ...values, at, queued };
}

/** A change of this group that leaves all but what is given as it was. */
function changeOf(name: string, change: Partial<GroupChange>): GroupChange {
  const {
    policy: _,
    intervalSeconds: __,
    membership: ___,
    backends: ____,
    history: _____,
    ...figures
  } = scriptedGroup(name, 2);
  return { ...figures, ...change };
}

describe('a change', () => {
  const state = scriptedState([scriptedGroup('llama', 2), scriptedGroup('mistral', 2)]);

  test('replaces what it has, and leaves the rest as it was', () => {
    const rows = [healthyRow(7), healthyRow(8)];
    const merged = mergeChange(state, {
      now: NOW + 1000,
      ready: false,
      groups: [changeOf('mistral', { rows })],
    });
    assert.equal(merged.now, NOW + 1000);
    assert.equal(merged.ready, false);
    assert.equal(merged.groups[0], state.groups[0]);
    assert.deepEqual(merged.groups[1], { ...state.groups[1], rows });
    assert.equal(merged.sidecars, state.sidecars);
  });

  test('of a group that is not known is left out', () => {
    assert.deepEqual(mergeChange(state, { now: NOW, groups: [changeOf('gone', {})] }), state);
  });

  const queuedAfter = (...points: readonly HistoryPoint[]) => {
    const merged = points.reduce(
      (known, one) => mergeChange(known, { now: NOW, groups: [changeOf('llama', { point: one })] }),
      state,
    );
    const { history } = merged.groups[0] ?? assert.fail('no group');
    return { endAt: history.endAt, queued: history.series.queued };
  };
  const before = state.groups[0]?.history.series.queued ?? [];

  test('adds a point to the history, which keeps its length', () => {
    const { endAt, queued } = queuedAfter(point(NOW + 5000, 42));
    assert.equal(endAt, NOW + 5000);
    assert.deepEqual(queued, [...before.slice(1), 42]);
  });

  test('that skips steps leaves them unknown', () => {
    const { queued } = queuedAfter(point(NOW + 15_000, 42));
    assert.deepEqual(queued.slice(-4), [before.at(-1), null, null, 42]);
    assert.equal(queued.length, 180);
    assert.deepEqual(queuedAfter(point(NOW + 86_400_000, 42)).queued, [...Array<null>(179).fill(null), 42]);
  });

  test('with a point that is known already adds none', () => {
    assert.deepEqual(queuedAfter(point(NOW, 42)).queued, before);
    assert.deepEqual(queuedAfter(point(NOW + 5000, 42), point(NOW + 5000, 43)).queued.at(-1), 42);
  });

  test('with the first point begins the history', () => {
    const none = {
      stepMs: 5000,
      endAt: null,
      series: Object.fromEntries(HISTORY_SERIES.map((name) => [name, []])),
    };
    const fresh = scriptedState([scriptedGroup('llama', 2, { history: none as never })]);
    const merged = mergeChange(fresh, { now: NOW, groups: [changeOf('llama', { point: point(NOW, 3) })] });
    assert.deepEqual(merged.groups[0]?.history.series.queued, [3]);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summaryOf } from '../../../../src/admin/page/group-summary.ts';
import { chartData, newestOf, timeRange, valueRange } from '../../../../src/admin/page/chart-data.ts';
import { largest, sparkPath } from '../../../../src/admin/page/sparkline.ts';
import { NOW, scriptedGroup } from '../../../support/scripted-state.ts';

const { history } = scriptedGroup('llama', 2);

test('a chart has a time for each value, the last one at the end of the history', () => {
  const [times, queued, running] = chartData(history, ['queued', 'running']);
  assert.deepEqual([times.length, times.at(-1), times.at(-2)], [180, NOW / 1000, NOW / 1000 - 5]);
  assert.deepEqual(queued, history.series.queued);
  assert.deepEqual(running, history.series.running);
});

test('a chart without history has nothing', () => {
  assert.deepEqual(chartData({ ...history, endAt: null }, ['queued']), [[], []]);
});

test('the scales: the last 15 minutes; from 0 to above the largest, or to the least', () => {
  assert.deepEqual(timeRange(NOW), [NOW / 1000 - 900, NOW / 1000]);
  assert.deepEqual(valueRange(null, 4), [0, 4]);
  assert.deepEqual(valueRange(2, 4), [0, 4]);
  assert.deepEqual(valueRange(100, 4), [0, 110.00000000000001]);
});

test('a trend line goes from the right, has gaps, and stays in its box', () => {
  const box = { width: 59, height: 20, most: 10, points: 60 };
  assert.equal(sparkPath([0, 5, 10], box), 'M57 19L58 10L59 1');
  assert.equal(sparkPath([0, null, 20], box), 'M57 19M59 1');
  assert.equal(sparkPath([3, 3], { ...box, most: 0 }), 'M58 19L59 19');
  assert.equal(sparkPath([], box), '');
});

test('the largest of all that is known', () => {
  assert.equal(largest([[1, null, 3], [], [2]]), 3);
  assert.equal(largest([]), 0);
});

test('the newest is what holds now, not the latest point, which may be older', () => {
  const group = scriptedGroup('llama', 3);
  const admission = { ...group.admission, share: 0.26 };
  const newest = newestOf({ ...group, admission, acknowledgementSeconds: 0.04 });
  const { running } = summaryOf(group);
  assert.deepEqual(
    [newest.running, newest.refusedShare, newest.acknowledgementSeconds],
    [running, 0.26, 0.04],
  );
  assert.equal(newest.mostWeight, group.history.series.mostWeight.at(-1));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scrollTo, topOf, virtualWindow } from '../../../../src/admin/page/virtual-window.ts';

const LIST = { count: 1000, rowHeight: 20, scrollTop: 0, viewHeight: 200 };
const OPEN = { index: 10, height: 300 };

test('only rows in sight and a few beyond are there', () => {
  assert.deepEqual(virtualWindow(LIST), { first: 0, end: 19, before: 0, after: 981 * 20 });
  const middle = virtualWindow({ ...LIST, scrollTop: 5000 });
  assert.deepEqual(middle, { first: 242, end: 269, before: 4840, after: 731 * 20 });
  const end = virtualWindow({ ...LIST, scrollTop: 19_800 });
  assert.deepEqual([end.end, end.after], [1000, 0]);
  assert.deepEqual(virtualWindow({ ...LIST, count: 0 }), { first: 0, end: 0, before: 0, after: 0 });
});

test('rows and what stands for the others are as high as all, wherever one looks and whichever row is open', () => {
  for (const open of [undefined, { index: 0, height: 55 }, OPEN, { index: 999, height: 33 }]) {
    const height = 20_000 + (open?.height ?? 0);
    for (let scrollTop = 0; scrollTop <= height - 200; scrollTop += 7) {
      const list = { ...LIST, scrollTop, open };
      const { first, end, before, after } = virtualWindow(list);
      assert.equal(before + (topOf(list, end) - topOf(list, first)) + after, height);
      assert.ok(topOf(list, first) <= scrollTop, `nothing is missing at the top of ${scrollTop}`);
      assert.ok(topOf(list, end) >= Math.min(height, scrollTop + 200), `nor at the bottom of ${scrollTop}`);
      assert.ok(end - first <= 30, `${end - first} rows at ${scrollTop}`);
    }
  }
});

test('a list that has become shorter than where one looks has no row too many', () => {
  const { first, end } = virtualWindow({ ...LIST, count: 5, scrollTop: 5000 });
  assert.ok(first >= 0 && end <= 5 && first <= end, `${first} to ${end}`);
});

test('scrolling to a row moves as little as shows all of it', () => {
  const list = { ...LIST, scrollTop: 1000 };
  assert.equal(scrollTo(list, 55, 28), 1000);
  assert.equal(scrollTo(list, 10, 28), 200);
  assert.equal(scrollTo(list, 70, 28), 71 * 20 - 172);
  const open = { ...LIST, scrollTop: 0, open: OPEN };
  assert.equal(scrollTo(open, 10, 28), 200, 'of an open row that is higher than the view the beginning');
});

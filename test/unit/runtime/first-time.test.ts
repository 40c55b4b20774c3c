import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FirstTime } from '../../../src/runtime/first-time.ts';

test('a text is met for the first time once, however much later it comes again', () => {
  let nowMs = 0;
  const first = new FirstTime(3, () => nowMs);
  assert.equal(first.isFirst('a'), true);
  assert.equal(first.isFirst('a'), false);
  nowMs = 1e9;
  assert.equal(first.isFirst('a'), false);
  assert.equal(first.isFirst('b'), true);
});

test('beyond the limit nothing is new, until an hour has passed', () => {
  let nowMs = 0;
  const first = new FirstTime(2, () => nowMs);
  const met = (): readonly string[] => ['a', 'b', 'c'].filter((text) => first.isFirst(text));
  assert.deepEqual(met(), ['a', 'b']);
  nowMs = 3_599_999;
  assert.deepEqual(met(), []);
  nowMs = 3_600_000;
  assert.equal(first.isFirst('c'), true);
  assert.deepEqual(met(), ['a']);
});

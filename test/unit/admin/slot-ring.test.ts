import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlotRing } from '../../../src/admin/slot-ring.ts';

function write(ring: SlotRing, atMs: number, ...values: readonly number[]): void {
  ring.rowAt(atMs)?.set(values);
}

test('columns, oldest first, as far as something was written', () => {
  const ring = new SlotRing(4, 2, 1000);
  assert.deepEqual([ring.column(0), ring.endAtMs], [[], undefined]);
  write(ring, 10_500, 1, 10);
  write(ring, 11_000, 2, 20);
  assert.deepEqual([ring.column(0), ring.column(1), ring.endAtMs], [[1, 2], [10, 20], 11_000]);
});

test('only the latest steps stay', () => {
  const ring = new SlotRing(3, 1, 1000);
  for (let step = 0; step < 10; step++) write(ring, step * 1000, step);
  assert.deepEqual(ring.column(0), [7, 8, 9]);
});

test('a step that was left out is not known, even where something stood before', () => {
  const ring = new SlotRing(4, 1, 1000);
  for (let step = 0; step < 4; step++) write(ring, step * 1000, step);
  write(ring, 6_000, 6);
  assert.deepEqual(ring.column(0), [3, Number.NaN, Number.NaN, 6]);
  write(ring, 60_000, 60);
  assert.deepEqual(ring.column(0), [Number.NaN, Number.NaN, Number.NaN, 60]);
});

test('a step begins once, and none before the latest', () => {
  const ring = new SlotRing(4, 1, 1000);
  assert.ok(ring.isNew(5_000));
  write(ring, 5_000, 1);
  assert.ok(!ring.isNew(5_999));
  assert.ok(ring.isNew(6_000));
  assert.equal(ring.rowAt(4_999), undefined);
});

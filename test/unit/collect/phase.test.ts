import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phaseOf } from '../../../src/collect/phase.ts';

const IDS = Array.from({ length: 1000 }, (_, index) => `10.0.${index >> 8}.${index & 255}:8000`);

test('phases are from 0 to 1 and spread evenly', () => {
  const tenths = new Map<number, number>();
  for (const id of IDS) {
    const phase = phaseOf(id, 7);
    assert.ok(phase >= 0 && phase < 1);
    const tenth = Math.floor(phase * 10);
    tenths.set(tenth, (tenths.get(tenth) ?? 0) + 1);
  }
  assert.equal(tenths.size, 10);
  for (const [tenth, count] of tenths) assert.ok(count > 60 && count < 140, `${count} in tenth ${tenth}`);
});

test('the order is the same each time for a run, and another one in the next', () => {
  const order = (run: number): readonly string[] =>
    IDS.toSorted((a, b) => phaseOf(a, run) - phaseOf(b, run)).slice(0, 100);
  assert.deepEqual(order(1), order(1));
  const both = order(1).filter((id) => order(2).includes(id));
  assert.ok(both.length < 40, `${both.length} of the first hundred are the first in both runs`);
});

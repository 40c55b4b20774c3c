import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ticksOf } from '../../../bench/routing/processor-time.ts';

test('idle, waiting and niced time is free for who comes; stolen time and interrupts are not', () => {
  //                user nice system idle iowait irq softirq steal guest guest_nice
  const stat = 'cpu  100 1000 10 500 50 3 4 5 99 98\ncpu0 1 1 1 1 1 1 1 1 1 1\nctxt 7\n';
  assert.deepEqual(ticksOf(stat), { busy: 100 + 10 + 3 + 4 + 5, total: 1672 });
});

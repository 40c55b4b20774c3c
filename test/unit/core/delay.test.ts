import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { LEAST_DELAY_SECONDS, observeDelay } from '../../../src/core/delay.ts';

test('the delay moves towards what is observed', () => {
  let delay = LEAST_DELAY_SECONDS;
  const seen: number[] = [];
  for (let i = 0; i < 40; i++) {
    delay = observeDelay(delay, 1);
    seen.push(delay);
  }
  assert.ok(seen.every((value, i) => i === 0 || value > (seen[i - 1] ?? 1)));
  assert.ok((seen[0] ?? 1) < 0.5, 'one slow sidecar is not believed at once');
  assert.ok(Math.abs(delay - 1) < 0.001);
});

test('the delay is never below a tenth of a second', () => {
  assert.equal(observeDelay(0.1, 0), 0.1);
  assert.equal(observeDelay(0.1, 0.001), 0.1);
});

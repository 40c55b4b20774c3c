import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchEventLoop } from '../../../src/runtime/event-loop-watch.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('what holds up the event loop is seen once, and nothing after the end', async () => {
  const clock = new FakeClock(500);
  const lates: number[] = [];
  let heldUpMs = 0;
  const stop = watchEventLoop(
    {
      // as it is at the end of whatever held up the loop
      now: () => clock.now() + heldUpMs,
      schedule: (milliseconds, callback) => clock.schedule(milliseconds, callback),
    },
    (lateMs) => lates.push(lateMs),
  );
  await clock.advance(250);
  heldUpMs = 70;
  await clock.advance(250);
  assert.deepEqual(lates, [0, 0, 70, 0, 0]);
  stop();
  assert.equal(clock.pending, 0);
});

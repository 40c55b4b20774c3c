import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Intake } from '../../../src/xds/intake.ts';

test('what comes is owed until it has become a message', () => {
  const intake = new Intake(1000, 0);
  intake.look(500_000, 0);
  assert.deepEqual([intake.owedBytes, intake.owingSinceMs], [499_000, 0]);
  intake.received(600_000);
  intake.look(601_000, 0);
  assert.deepEqual([intake.owedBytes, intake.owingSinceMs], [0, undefined]);
});

test('a message now is no credit for later', () => {
  const intake = new Intake(0, 0);
  intake.received(1_000_000);
  intake.look(1_000_000, 0);
  intake.look(1_100_000, 0);
  assert.equal(intake.owedBytes, 100_000);
});

test('a small debt is none, and a large one is as old as its beginning', () => {
  const intake = new Intake(0, 0);
  intake.look(16_000, 500);
  assert.equal(intake.owingSinceMs, undefined);
  intake.look(30_000, 1000);
  intake.look(30_000, 1500);
  assert.equal(intake.owingSinceMs, 1000);
});

test('streams that are gone leave no debt', () => {
  const intake = new Intake(0, 0);
  intake.look(500_000, 0);
  intake.settle();
  assert.deepEqual([intake.owedBytes, intake.owingSinceMs], [0, undefined]);
});

test('an honest client never comes to owe anything, whatever it asks and is sent', () => {
  const message = fc.record({
    request: fc.integer({ min: 0, max: 100_000 }),
    response: fc.integer({ min: 0, max: 2_000_000 }),
    seconds: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 40, noNaN: true })),
  });
  fc.assert(
    fc.property(fc.array(message, { minLength: 50, maxLength: 500 }), (messages) => {
      const intake = new Intake(0, 0);
      let [readBytes, nowMs] = [0, 0];
      for (const { request, response, seconds } of messages) {
        // a head for the message and each frame, windows for every 16 KiB, a ping in 30 s, with TLS records of 29 bytes
        readBytes += request + 5 + Math.ceil((request + 5) / 16_384) * (9 + 29);
        readBytes += Math.floor(response / 16_384) * (13 + 13 + 29) + (seconds / 30) * (17 + 29);
        nowMs += seconds * 1000;
        intake.received(request);
        intake.sent(response);
        intake.look(readBytes, nowMs);
        assert.equal(intake.owingSinceMs, undefined);
      }
    }),
    { seed: 41, numRuns: 100 },
  );
});

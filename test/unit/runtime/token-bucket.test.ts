import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenBucket } from '../../../src/runtime/token-bucket.ts';

function takeAll(bucket: TokenBucket, nowMs: number): number {
  let taken = 0;
  while (bucket.take(nowMs)) taken++;
  return taken;
}

test('it lets a second worth pass at once, then as many as time brings', () => {
  const bucket = new TokenBucket(10, 500);
  assert.equal(takeAll(bucket, 500), 10);
  assert.equal(takeAll(bucket, 599), 0);
  assert.equal(takeAll(bucket, 600), 1);
  assert.equal(takeAll(bucket, 900), 3);
  assert.equal(takeAll(bucket, 1_000_000), 10);
});

test('it is full when nothing has passed for a second', () => {
  const bucket = new TokenBucket(10, 0);
  assert.ok(bucket.isFull(0));
  takeAll(bucket, 0);
  assert.ok(!bucket.isFull(999));
  assert.ok(bucket.isFull(1000));
});

test('in no span of time does more pass than a second worth and the span', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 100 }),
      (perSecond, steps) => {
        const bucket = new TokenBucket(perSecond, 0);
        let nowMs = 0;
        let passed = 0;
        for (const step of steps) {
          nowMs += step;
          if (bucket.take(nowMs)) passed++;
          assert.ok(passed <= perSecond + (nowMs / 1000) * perSecond + 1e-6);
        }
      },
    ),
    { seed: 11 },
  );
});

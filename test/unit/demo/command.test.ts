import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demo } from '../../../src/commands/demo.ts';

const OPTIONS = { seconds: 120, backends: 4, seed: 1, json: false, keep: false };

const wrong: readonly (readonly [Partial<typeof OPTIONS>, string])[] = [
  [{ seconds: 59 }, '--seconds must be an integer of 60..3600, is 59'],
  [{ backends: 1 }, '--backends must be an integer of 2..16, is 1'],
  [{ seed: 0.5 }, '--seed must be an integer of 0..1000000, is 0.5'],
  [{ seed: Number.NaN }, '--seed must be an integer of 0..1000000, is NaN'],
];

for (const [options, message] of wrong) {
  test(message, async () => {
    let said = '';
    const code = await demo(
      { ...OPTIONS, ...options },
      {
        out: (text) => {
          said += text;
        },
        err: (text) => {
          said += text;
        },
      },
    );
    assert.deepEqual([code, said], [64, `plimsoll demo: ${message}\n`]);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { switchLevel } from '../../../src/runtime/switch-level.ts';

for (const [usual, other] of [
  ['info', 'debug'],
  ['error', 'debug'],
  ['debug', 'info'],
  ['trace', 'info'],
] as const) {
  test(`${usual} becomes ${other} and ${usual} again, and both are told`, () => {
    const lines: string[] = [];
    const log = pino({ level: usual }, { write: (line) => lines.push(line) });
    switchLevel(log, usual);
    assert.equal(log.level, other);
    switchLevel(log, usual);
    assert.equal(log.level, usual);
    const told = lines.map((line) => (JSON.parse(line) as { now: unknown }).now);
    assert.deepEqual(told, [other, usual]);
  });
}

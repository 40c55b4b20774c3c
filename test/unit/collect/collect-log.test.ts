import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { CollectLog } from '../../../src/collect/collect-log.ts';
import type { CollectFailure } from '../../../src/core/model/collection.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const refused: CollectFailure = { kind: 'refused', message: 'connection refused' };
const timeout: CollectFailure = { kind: 'timeout', message: 'no answer' };
const FAILS = 'collection fails: the backend stays in, unless OnCollectFailure is Remove';
const AGAIN = 'collection succeeds again';
const SUM = 'collections fail or succeed again: one line for all that came on top';

function bench() {
  const lines: Record<string, unknown>[] = [];
  const clock = new FakeClock();
  const write = (line: string): void => {
    const { level: _level, time: _time, ...fields } = JSON.parse(line) as Record<string, unknown>;
    lines.push(fields);
  };
  return { lines, clock, log: new CollectLog({ log: pino({ base: null }, { write }), clock }) };
}

test('one that fails, and succeeds again, has a line for each; after quiet seconds nothing is kept', async () => {
  const { lines, clock, log } = bench();
  log.changed('a', refused);
  log.changed('a', undefined);
  const both = [
    { backend: 'a', reason: 'connection refused', msg: FAILS },
    { backend: 'a', msg: AGAIN },
  ];
  assert.deepEqual(lines, both);
  await clock.advance(10_000);
  assert.equal(clock.pending, 0);
  log.changed('a', refused);
  log.changed('a', undefined);
  assert.deepEqual(lines, [...both, ...both]);
});

test('one that goes to and fro every second costs a line in ten', async () => {
  const { lines, clock, log } = bench();
  for (let second = 0; second < 600; second++) {
    log.changed('a', second % 2 === 0 ? timeout : undefined);
    await clock.advance(1000);
  }
  assert.ok(lines.length <= 4 + 60, `${lines.length} lines in ten minutes`);
  assert.deepEqual(lines.at(-1), { backends: ['a'], total: 1, changes: 10, failing: {}, msg: SUM });
});

test('a fleet that goes down has twenty lines and a sum, and so when it comes back', async () => {
  const { lines, clock, log } = bench();
  const names = Array.from({ length: 5000 }, (_, i) => `backend ${i}`);
  for (const [i, name] of names.entries()) log.changed(name, i % 5 === 0 ? timeout : refused);
  assert.equal(lines.length, 20);
  await clock.advance(10_000);
  assert.equal(lines.length, 21);
  assert.deepEqual(lines[20], {
    backends: ['backend 20', 'backend 21', 'backend 22', 'backend 23', 'and 4976 more'],
    total: 4980,
    changes: 4980,
    failing: { timeout: 996, refused: 3984 },
    msg: SUM,
  });
  await clock.advance(10_000);
  for (const name of names) log.changed(name, undefined);
  assert.ok(lines.slice(21).every(({ msg }) => msg === AGAIN));
  await clock.advance(20_000);
  assert.equal(lines.length, 42);
  assert.equal(clock.pending, 0);
});

test('flushed, what is left is told at once and nothing is scheduled', () => {
  const { lines, clock, log } = bench();
  for (const failure of [refused, undefined, refused, undefined, timeout]) log.changed('a', failure);
  log.flush();
  assert.deepEqual(lines.at(-1), {
    backends: ['a'],
    total: 1,
    changes: 1,
    failing: { timeout: 1 },
    msg: SUM,
  });
  assert.equal(clock.pending, 0);
});

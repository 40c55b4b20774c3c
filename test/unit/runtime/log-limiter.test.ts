import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { LogLimiter } from '../../../src/runtime/log-limiter.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function bench() {
  const lines: Record<string, unknown>[] = [];
  const clock = new FakeClock();
  const write = (line: string): void => {
    const { level, time, ...fields } = JSON.parse(line) as Record<string, unknown>;
    assert.equal(level, 40);
    assert.ok(time !== undefined);
    lines.push(fields);
  };
  return { lines, clock, limiter: new LogLimiter({ log: pino({ base: null }, { write }), clock }) };
}

test('the first is logged at once, the rest as one line with the latest and their number', async () => {
  const { lines, clock, limiter } = bench();
  for (let n = 1; n <= 100; n++) limiter.warn('rejected', 'a', { n }, 'it rejects');
  assert.deepEqual(lines, [{ n: 1, msg: 'it rejects' }]);
  await clock.advance(10_000);
  assert.deepEqual(lines.slice(1), [{ n: 100, times: 99, msg: 'it rejects' }]);
  limiter.warn('rejected', 'a', { n: 101 }, 'it rejects');
  assert.equal(lines.length, 2, 'still one line in ten seconds');
  await clock.advance(10_000);
  assert.deepEqual(lines.slice(2), [{ n: 101, times: 1, msg: 'it rejects' }]);
});

test('kinds and origins have lines of their own', () => {
  const { lines, limiter } = bench();
  limiter.warn('rejected', 'a', {}, 'one');
  limiter.warn('rejected', 'b', {}, 'two');
  limiter.warn('refused', 'a', {}, 'three');
  limiter.warn('refused', 'a', {}, 'four');
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['one', 'two', 'three'],
  );
});

test('after ten quiet seconds nothing is remembered or scheduled, and a warning is the first again', async () => {
  const { lines, clock, limiter } = bench();
  limiter.warn('rejected', 'a', {}, 'first');
  await clock.advance(10_000);
  assert.equal(clock.pending, 0);
  limiter.warn('rejected', 'a', {}, 'second');
  assert.deepEqual(lines, [{ msg: 'first' }, { msg: 'second' }]);
});

test('any number of origins makes a bounded number of lines, and none is lost', async () => {
  const { lines, clock, limiter } = bench();
  for (let n = 0; n < 10_000; n++) limiter.warn('rejected', `origin ${n}`, {}, 'it rejects');
  await clock.advance(10_000);
  assert.ok(lines.length <= 260, String(lines.length));
  const told = lines.reduce((sum, { times }) => sum + (typeof times === 'number' ? times : 1), 0);
  assert.equal(told, 10_000);
});

test('a flush tells what is left and leaves no timer', () => {
  const { lines, clock, limiter } = bench();
  limiter.warn('rejected', 'a', { n: 1 }, 'it rejects');
  limiter.warn('rejected', 'a', { n: 2 }, 'it rejects');
  limiter.flush();
  assert.deepEqual(lines[1], { n: 2, times: 1, msg: 'it rejects' });
  assert.equal(clock.pending, 0);
});

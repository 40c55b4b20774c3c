import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApplyTimes, UnappliedReason } from '../../../src/publish/apply-delay.ts';
import { ZoneDelays } from '../../../src/publish/zone-delays.ts';

const RUN = { startedAtMs: 0, endedAtMs: 10 };

function setUp() {
  const applied: ApplyTimes[] = [];
  const unapplied: (readonly [UnappliedReason, number])[] = [];
  const delays = new ZoneDelays({
    applied: (times) => applied.push(times),
    unapplied: (reason, streams) => unapplied.push([reason, streams]),
  });
  const publish = (
    version: string,
    zones: Readonly<Record<string, string>>,
    changed: readonly string[],
    atMs: number,
  ) => {
    delays.published(
      {
        version,
        changed: changed.includes(version),
        zones: new Map(
          Object.entries(zones).map(([zone, own]) => [
            zone,
            { version: own, changed: changed.includes(own) },
          ]),
        ),
      },
      RUN,
      atMs,
    );
  };
  return { delays, applied, unapplied, publish };
}

test('only those who are told something new are waited for', () => {
  const { delays, applied, unapplied, publish } = setUp();
  const [here, there, nowhere] = [{}, {}, {}];
  publish('v1', { a: 'a1', b: 'b1' }, ['v1', 'a1', 'b1'], 100);
  delays.acknowledged('a', here, 'a1', 110);
  delays.acknowledged('b', there, 'b1', 110);
  delays.acknowledged('c', nowhere, 'v1', 110);
  assert.deepEqual(delays.streams, { following: 3, current: 3 });
  publish('v1', { a: 'a2', b: 'b1' }, ['a2'], 200);
  assert.deepEqual(delays.streams, { following: 3, current: 2 });
  delays.acknowledged('a', here, 'a2', 230);
  assert.deepEqual(delays.streams, { following: 3, current: 3 });
  assert.deepEqual(applied, [{ collect: 0.01, publish: 0.19, sidecars: 0.03 }]);
  delays.sweep(100_000);
  assert.deepEqual(unapplied, []);
});

test('one that refuses, leaves or says nothing is told of, in whatever zone', () => {
  const { delays, unapplied, publish } = setUp();
  const [refusing, leaving, silent] = [{}, {}, {}];
  publish('v1', { a: 'a1' }, ['v1', 'a1'], 100);
  for (const stream of [refusing, leaving]) delays.acknowledged('a', stream, 'a1', 110);
  delays.acknowledged('', silent, 'v1', 110);
  publish('v2', { a: 'a2' }, ['v2', 'a2'], 200);
  delays.rejected(refusing, 'a2');
  delays.left(leaving);
  delays.sweep(100_000);
  assert.deepEqual(unapplied, [
    ['rejected', 1],
    ['left', 1],
    ['timeout', 1],
  ]);
});

test('when zones come or go, streams are followed anew: nobody is waited for where he is not any more', () => {
  const { delays, unapplied, publish } = setUp();
  const stream = {};
  publish('v1', {}, ['v1'], 100);
  delays.acknowledged('a', stream, 'v1', 110);
  publish('v1', { a: 'a1' }, ['a1'], 200);
  assert.deepEqual(delays.streams, { following: 0, current: 0 });
  delays.acknowledged('a', stream, 'a1', 210);
  publish('v2', { a: 'a1' }, ['v2'], 300);
  assert.deepEqual(delays.streams, { following: 1, current: 1 });
  delays.sweep(100_000);
  assert.deepEqual(unapplied, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpeningGate } from '../../../src/collect/opening-gate.ts';

const never = new AbortController().signal;

async function state(promise: Promise<unknown>): Promise<'settled' | 'waiting'> {
  return Promise.race([promise.then(() => 'settled' as const), Promise.resolve('waiting' as const)]);
}

test('lets in as many as its limit, the others in their order as places come free', async () => {
  const gate = new OpeningGate(2);
  const first = await gate.enter(never);
  const second = await gate.enter(never);
  const third = gate.enter(never);
  const fourth = gate.enter(never);
  assert.equal(await state(third), 'waiting');
  first?.();
  first?.();
  assert.ok(await third);
  assert.equal(await state(fourth), 'waiting');
  second?.();
  assert.ok(await fourth);
});

test('a place that nobody waits for is free again', async () => {
  const gate = new OpeningGate(1);
  for (let i = 0; i < 3; i++) (await gate.enter(never))?.();
  assert.ok(await gate.enter(never));
});

test('one that gives up leaves the queue', async () => {
  const gate = new OpeningGate(1);
  const leave = await gate.enter(never);
  const giveUp = new AbortController();
  const second = gate.enter(giveUp.signal);
  const third = gate.enter(never);
  giveUp.abort();
  assert.equal(await second, undefined);
  leave?.();
  assert.ok(await third);
  assert.equal(await gate.enter(AbortSignal.abort()), undefined);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_ENGINE, Engine, type EngineEvent, type FinishedRequest } from '../../../src/demo/engine.ts';

/*
 * The engine against what can be computed by hand. (A request alone stands in engine.test.ts.)
 */

const { stepMs, prefillTokenMs, decodingMs, residentTokenMs } = DEFAULT_ENGINE;
const ROOMY = { ...DEFAULT_ENGINE, kvTokens: 1_000_000, stepTokens: 100_000 };

/** What finished, by id, after `count` equal requests queued behind one of a single token. */
function drainEqual(engine: Engine, count: number, promptTokens: number, outputTokens: number) {
  const events: EngineEvent[] = [];
  engine.add({ id: -1, promptTokens: 1, outputTokens: 1 }, 0);
  for (let id = 0; id < count; id++) engine.add({ id, promptTokens, outputTokens }, 0);
  while (engine.nextMs !== undefined) events.push(...engine.advance(engine.nextMs));
  const finished = new Map<number, FinishedRequest>();
  for (const event of events) if (event.kind === 'finished') finished.set(event.id, event.result);
  return finished;
}

function near(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);
}

const FIRST_MS = stepMs + prefillTokenMs + residentTokenMs;

/** What `batch` equal requests take that are prefilled in one step and decode together. */
function batchMs(batch: number, promptTokens: number, outputTokens: number): number {
  const prefill = stepMs + batch * promptTokens * (prefillTokenMs + residentTokenMs);
  const steps = outputTokens - 1;
  const resident = batch * (promptTokens * steps + (steps * (steps + 1)) / 2);
  return prefill + steps * (stepMs + batch * decodingMs) + residentTokenMs * resident;
}

test('a full batch in its steady state: slots over the time of a batch', () => {
  const slots = 16;
  const finished = drainEqual(new Engine({ ...ROOMY, slots }), 3 * slots, 50, 20);
  for (const batch of [0, 1, 2]) {
    const endMs = FIRST_MS + (batch + 1) * batchMs(slots, 50, 20);
    for (let of = 0; of < slots; of++) near(finished.get(batch * slots + of)?.finishedMs, endMs);
  }
});

test('first in, first out: one slot makes a request wait for all before it', () => {
  const finished = drainEqual(new Engine({ ...ROOMY, slots: 1 }), 10, 30, 5);
  for (let id = 0; id < 10; id++) {
    const startMs = FIRST_MS + id * batchMs(1, 30, 5);
    near(finished.get(id)?.scheduledMs, startMs);
    near(finished.get(id)?.firstTokenMs, startMs + batchMs(1, 30, 1));
    near(finished.get(id)?.finishedMs, startMs + batchMs(1, 30, 5));
  }
});

test('a batch that the KV cache limits: as many as have room, however many slots there are', () => {
  const kvTokens = 1000;
  const finished = drainEqual(new Engine({ ...ROOMY, slots: 64, kvTokens }), 12, 240, 1);
  for (let id = 0; id < 12; id++) {
    near(finished.get(id)?.finishedMs, FIRST_MS + (Math.floor(id / 4) + 1) * batchMs(4, 240, 1));
  }
});

test('prefill beside decoding: both are paid for, and decoding comes first in the budget', () => {
  const engine = new Engine({ ...ROOMY, slots: 2, stepTokens: 101 });
  engine.add({ id: 1, promptTokens: 10, outputTokens: 4 }, 0);
  const firstMs = stepMs + 10 * (prefillTokenMs + residentTokenMs);
  engine.add({ id: 2, promptTokens: 200, outputTokens: 1 }, 1);
  // two steps of a decoding sequence and 100 tokens of prefill; the second request's KV is taken from the start
  const bothMs = 2 * (stepMs + 100 * prefillTokenMs + decodingMs) + residentTokenMs * (211 + 212);
  const events: EngineEvent[] = [];
  while (engine.nextMs !== undefined) events.push(...engine.advance(engine.nextMs));
  near(events.find(({ kind, id }) => kind === 'first_token' && id === 2)?.atMs, firstMs + bothMs);
});

test('a token that is asked for is told of', () => {
  const engine = new Engine(ROOMY);
  engine.add({ id: 1, promptTokens: 10, outputTokens: 9, tellAtToken: 5 }, 0);
  const events: EngineEvent[] = [];
  while (engine.nextMs !== undefined) events.push(...engine.advance(engine.nextMs));
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['first_token', 'reached', 'finished'],
  );
  near(events[1]?.atMs, batchMs(1, 10, 5));
});

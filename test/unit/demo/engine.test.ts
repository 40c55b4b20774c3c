import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  DEFAULT_ENGINE,
  Engine,
  type EngineEvent,
  type EngineRequest,
  type EngineSettings,
} from '../../../src/demo/engine.ts';

const SETTINGS: EngineSettings = { ...DEFAULT_ENGINE, slots: 4, kvTokens: 1000, stepTokens: 100 };

/** Lets the engine run until it is idle. */
function drain(engine: Engine): readonly EngineEvent[] {
  const events: EngineEvent[] = [];
  while (engine.nextMs !== undefined) events.push(...engine.advance(engine.nextMs));
  return events;
}

function near(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);
}

function timeOf(events: readonly EngineEvent[], kind: EngineEvent['kind'], id: number): number | undefined {
  return events.find((event) => event.kind === kind && event.id === id)?.atMs;
}

describe('a request alone', () => {
  const { stepMs, prefillTokenMs, decodingMs, residentTokenMs } = SETTINGS;

  test('takes the closed form', () => {
    const engine = new Engine(SETTINGS);
    engine.add({ id: 1, promptTokens: 80, outputTokens: 10 }, 1000);
    const events = drain(engine);
    const first = 1000 + stepMs + 80 * prefillTokenMs + 80 * residentTokenMs;
    // nine decoding steps with 81, 82, …, 89 tokens resident
    const rest = 9 * (stepMs + decodingMs) + residentTokenMs * ((81 + 89) / 2) * 9;
    near(timeOf(events, 'first_token', 1), first);
    near(timeOf(events, 'finished', 1), first + rest);
  });

  test('is prefilled in chunks of the token budget', () => {
    const engine = new Engine(SETTINGS);
    engine.add({ id: 1, promptTokens: 250, outputTokens: 1 }, 0);
    const events = drain(engine);
    near(timeOf(events, 'first_token', 1), 3 * (stepMs + 250 * residentTokenMs) + 250 * prefillTokenMs);
    assert.equal(engine.counters.steps, 3);
  });

  test('takes twice as long at half speed', () => {
    const full = new Engine(SETTINGS);
    const half = new Engine(SETTINGS);
    half.slowness = 2;
    const request = { id: 1, promptTokens: 80, outputTokens: 10 };
    full.add(request, 0);
    half.add(request, 0);
    near(timeOf(drain(half), 'finished', 1), 2 * (timeOf(drain(full), 'finished', 1) ?? 0));
  });
});

test('as many as there are slots run at once, the rest wait in order', () => {
  const engine = new Engine(SETTINGS);
  for (let id = 0; id < 10; id++) engine.add({ id, promptTokens: 10, outputTokens: 5 }, 0);
  engine.advance(engine.nextMs ?? 0); // the first came alone
  engine.advance(engine.nextMs ?? 0);
  assert.deepEqual([engine.gauges.running, engine.gauges.waiting], [4, 6]);
  const finished = drain(engine).filter((event) => event.kind === 'finished');
  assert.deepEqual(
    finished.map(({ id }) => id),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
  assert.deepEqual(engine.gauges, { running: 0, waiting: 0, kvUtilization: 0 });
});

test('a full KV cache preempts the last admitted, which loses no token', () => {
  const engine = new Engine({ ...SETTINGS, kvTokens: 100 });
  engine.add({ id: 1, promptTokens: 40, outputTokens: 50 }, 0);
  engine.add({ id: 2, promptTokens: 40, outputTokens: 50 }, 0);
  const events = drain(engine);
  assert.ok(engine.counters.preemptions > 0);
  assert.equal(engine.counters.generatedTokens, 100);
  assert.ok((timeOf(events, 'finished', 1) ?? 0) < (timeOf(events, 'finished', 2) ?? 0));
});

test('what is longer than the KV cache does not fit', () => {
  const engine = new Engine(SETTINGS);
  assert.equal(engine.fits({ id: 1, promptTokens: 900, outputTokens: 100 }), true);
  assert.equal(engine.fits({ id: 1, promptTokens: 900, outputTokens: 101 }), false);
});

describe('gauges', () => {
  test('have the age of the last step', () => {
    const engine = new Engine(SETTINGS);
    engine.add({ id: 1, promptTokens: 10, outputTokens: 5 }, 0);
    assert.deepEqual(engine.gauges, { running: 0, waiting: 0, kvUtilization: 0 });
    engine.advance(engine.nextMs ?? 0);
    assert.deepEqual(engine.gauges, { running: 1, waiting: 0, kvUtilization: 0.01 });
  });

  test('keep their values when all requests are aborted, until there is a step again', () => {
    const engine = new Engine(SETTINGS);
    for (let id = 0; id < 6; id++) engine.add({ id, promptTokens: 10, outputTokens: 50 }, 0);
    engine.advance(100);
    for (let id = 0; id < 6; id++) engine.abort(id);
    assert.equal(engine.inside, 0);
    engine.advance(10_000);
    assert.equal(engine.nextMs, undefined);
    assert.deepEqual([engine.gauges.running, engine.gauges.waiting], [4, 2]);
    assert.deepEqual([engine.counters.aborted, engine.counters.finished], [6, 0]);
    engine.add({ id: 9, promptTokens: 10, outputTokens: 1 }, 20_000);
    drain(engine);
    assert.deepEqual(engine.gauges, { running: 0, waiting: 0, kvUtilization: 0 });
  });
});

test('an abort frees a slot for the next in the queue', () => {
  const engine = new Engine({ ...SETTINGS, slots: 1 });
  engine.add({ id: 1, promptTokens: 10, outputTokens: 900 }, 0);
  engine.add({ id: 2, promptTokens: 10, outputTokens: 2 }, 0);
  engine.advance(100);
  engine.abort(1);
  engine.abort(77);
  const events = drain(engine);
  assert.equal(timeOf(events, 'finished', 1), undefined);
  assert.ok((timeOf(events, 'finished', 2) ?? Infinity) < 200);
});

test('every request finishes once, with all its tokens, and no limit is passed', () => {
  const request = fc.record({
    afterMs: fc.integer({ min: 0, max: 200 }),
    promptTokens: fc.integer({ min: 1, max: 600 }),
    outputTokens: fc.integer({ min: 1, max: 200 }),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 40 }), (requests) => {
      const engine = new Engine(SETTINGS);
      const events: EngineEvent[] = [];
      let nowMs = 0;
      let tokens = 0;
      requests.forEach(({ afterMs, ...lengths }, id) => {
        nowMs += afterMs;
        tokens += lengths.outputTokens;
        events.push(...engine.advance(nowMs));
        engine.add({ id, ...lengths } satisfies EngineRequest, nowMs);
        assert.ok(engine.gauges.running <= SETTINGS.slots);
        assert.ok(engine.gauges.kvUtilization <= 1);
      });
      events.push(...drain(engine));
      const ids = (kind: EngineEvent['kind']): readonly number[] =>
        events.flatMap((event) => (event.kind === kind ? [event.id] : [])).sort((a, b) => a - b);
      assert.deepEqual(ids('first_token'), [...requests.keys()]);
      assert.deepEqual(ids('finished'), [...requests.keys()]);
      assert.equal(engine.counters.generatedTokens, tokens);
    }),
    { seed: 20_260_101, numRuns: 200 },
  );
});

test('a prompt counts as taken in with the end of its first step, and as a whole when it has its first token', () => {
  const engine = new Engine(SETTINGS);
  engine.add({ id: 1, promptTokens: 250, outputTokens: 3 }, 0);
  const seen: (readonly [number, number])[] = [];
  for (let step = 0; step < 4; step++) {
    const { takenInTokens, promptTokens } = engine.counters;
    seen.push([takenInTokens, promptTokens]);
    engine.advance(engine.nextMs ?? Number.NaN);
  }
  assert.deepEqual(seen, [
    [0, 0],
    [250, 0],
    [250, 0],
    [250, 250],
  ]);
});

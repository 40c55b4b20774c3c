import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHAT, planArrivals } from '../../../src/demo/arrivals.ts';
import { saturatedRate } from '../../../src/demo/capacity.ts';
import { DEFAULT_ENGINE, Engine } from '../../../src/demo/engine.ts';

const PLAN = { seed: 7, ratePerSecond: 50, seconds: 200 };

test('equal plans give equal arrivals, another seed others', () => {
  assert.deepEqual(planArrivals(PLAN), planArrivals(PLAN));
  assert.notDeepEqual(planArrivals(PLAN), planArrivals({ ...PLAN, seed: 8 }));
});

test('arrivals are in order, within the plan, at its rate, and as uneven as Poisson', () => {
  const times = planArrivals(PLAN).map(({ atMs }) => atMs);
  assert.ok(times.every((atMs, index) => atMs >= (times[index - 1] ?? 0) && atMs < 200_000));
  assert.ok(Math.abs(times.length - 10_000) < 4 * Math.sqrt(10_000), `${times.length} arrivals`);
  const perSecond = new Map<number, number>();
  for (const atMs of times) {
    const second = Math.floor(atMs / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  const variance = [...perSecond.values()].reduce((sum, count) => sum + (count - 50) ** 2, 0) / 200;
  assert.ok(variance > 30 && variance < 75, `variance ${variance} of a mean of 50`);
});

test('lengths follow the mix: the median, a few long contexts, nothing beyond the ends', () => {
  const arrivals = planArrivals(PLAN);
  const outputs = arrivals.map(({ outputTokens }) => outputTokens).sort((a, b) => a - b);
  const median = outputs[Math.floor(outputs.length / 2)] ?? 0;
  assert.ok(Math.abs(median / CHAT.output.median - 1) < 0.05, `median ${median}`);
  const long = arrivals.filter(({ promptTokens }) => promptTokens > CHAT.prompt.most).length;
  assert.ok(long > 0.005 * arrivals.length && long < 0.03 * arrivals.length, `${long} long contexts`);
  assert.ok(arrivals.every(({ promptTokens, outputTokens }) => promptTokens >= 1 && outputTokens >= 1));
  const engine = new Engine(DEFAULT_ENGINE);
  assert.ok(arrivals.every((arrival, id) => engine.fits({ id, ...arrival })));
});

test('an engine keeps up a little below its saturated rate and falls behind above it', () => {
  const rate = saturatedRate(DEFAULT_ENGINE);
  const insideAfter = (ratePerSecond: number): number => {
    const engine = new Engine(DEFAULT_ENGINE);
    planArrivals({ seed: 3, ratePerSecond, seconds: 300 }).forEach((arrival, id) => {
      engine.advance(arrival.atMs);
      engine.add({ id, ...arrival }, arrival.atMs);
    });
    return engine.inside;
  };
  const below = insideAfter(0.85 * rate);
  const above = insideAfter(1.2 * rate);
  assert.ok(below < 40, `${below} inside below the rate`);
  assert.ok(above > 0.1 * rate * 300, `${above} inside above the rate`);
});

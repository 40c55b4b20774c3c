import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engine } from '../../../src/demo/engine.ts';
import { LeanPage } from '../../../src/demo/lean-page.ts';
import { MetricsPage } from '../../../src/demo/metrics-page.ts';

test('every sample of the lean page stands in the full one, with the same value', () => {
  const engine = new Engine();
  const pages = [new LeanPage('m'), new MetricsPage('m')] as const;
  for (let id = 0; id < 30; id++) engine.add({ id, promptTokens: 100, outputTokens: 20 + 10 * id }, 0);
  for (const event of engine.advance(5000)) {
    if (event.kind === 'finished') for (const page of pages) page.record(event.result);
  }
  assert.ok(engine.counters.finished > 0 && engine.gauges.running > 0);
  const [lean, full] = pages.map((page) => page.render(engine).trimEnd().split('\n'));
  const samples = lean!.filter((line) => !line.startsWith('#'));
  assert.equal(samples.length, 10);
  for (const line of samples) assert.ok(full!.includes(line), line);
});

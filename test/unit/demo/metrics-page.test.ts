import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engine } from '../../../src/demo/engine.ts';
import { MetricsPage } from '../../../src/demo/metrics-page.ts';

function pageAfter(requests: number): string {
  const engine = new Engine();
  const page = new MetricsPage('llama-3.1-8b');
  for (let id = 0; id < requests; id++) engine.add({ id, promptTokens: 100, outputTokens: 20 }, 0);
  for (const event of engine.advance(60_000)) if (event.kind === 'finished') page.record(event.result);
  return page.render(engine);
}

function valueOf(page: string, series: string): number {
  const line = page.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  assert.ok(line !== undefined, `no ${series}`);
  return Number(line.slice(series.length + 1));
}

const LABELS = 'engine="0",model_name="llama-3.1-8b"';

test('the page is as large as vLLM has it, and every line is well-formed', () => {
  const page = pageAfter(3);
  assert.ok(page.length > 36_000 && page.length < 48_000, `${page.length} bytes`);
  assert.ok(page.endsWith('\n'));
  for (const line of page.trimEnd().split('\n')) {
    assert.match(line, /^(# HELP \S+ \S.*|# TYPE \S+ \S+|[a-z_:A-Z0-9]+(\{[^{}]*\})? [0-9.e+-]+)$/);
  }
});

test('every family is declared once, before its samples', () => {
  const families = [...pageAfter(0).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.equal(new Set(families).size, families.length);
});

test('gauges, counters and the latency histogram tell what the engine did', () => {
  const page = pageAfter(3);
  assert.equal(valueOf(page, `vllm:num_requests_running{${LABELS}}`), 0);
  assert.equal(valueOf(page, `vllm:num_requests_waiting{${LABELS}}`), 0);
  assert.equal(valueOf(page, `vllm:kv_cache_usage_perc{${LABELS}}`), 0);
  assert.equal(valueOf(page, `vllm:request_success_total{${LABELS},finished_reason="length"}`), 3);
  assert.equal(valueOf(page, `vllm:e2e_request_latency_seconds_count{${LABELS}}`), 3);
  assert.equal(valueOf(page, `vllm:e2e_request_latency_seconds_bucket{${LABELS},le="+Inf"}`), 3);
  // 20 steps of 12 ms and more each
  const sum = valueOf(page, `vllm:e2e_request_latency_seconds_sum{${LABELS}}`);
  assert.ok(sum > 3 * 0.24 && sum < 3 * 0.4, `${sum} s`);
});

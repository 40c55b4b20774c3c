import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LINES_MAX, SERIES_MAX } from '../../../src/collect/exposition.ts';
import { SampleReader, type SampleReading } from '../../../src/collect/sample.ts';
import { SamplePlan } from '../../../src/collect/sample-plan.ts';
import type { ScorerName } from '../../../src/core/model/balance-settings.ts';
import type { CollectFailure, Sample } from '../../../src/core/model/collection.ts';
import { IDLE, vllmPage } from '../../support/vllm-page.ts';

const ALL: readonly ScorerName[] = ['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'];
const GAUGES = 'vllm:num_requests_waiting 3\nvllm:num_requests_running 5\nvllm:kv_cache_usage_perc 0.25\n';

function read(page: string, required = ALL): SampleReading {
  const plan = new SamplePlan({ engine: 'Vllm', metrics: { labels: {} } }, required);
  return new SampleReader(plan).read(Buffer.from(page));
}

function sampleOf(page: string, required = ALL): Sample {
  const reading = read(page, required);
  return reading.kind === 'sample' ? reading.sample : assert.fail(reading.kind);
}

function failureOf(page: string, required = ALL): CollectFailure {
  const reading = read(page, required);
  return reading.kind === 'failure' ? reading.failure : assert.fail('a sample');
}

describe('a vLLM page', () => {
  test('of one engine', () => {
    const values = { waiting: 3, running: 5, kvUsage: 0.25, finished: 17, latencySumSeconds: 42.5 };
    assert.deepEqual(sampleOf(vllmPage([values])), {
      queued: 3,
      running: 5,
      kvUtilization: 0.25,
      finished: 17,
      latency: { sumSeconds: 42.5, count: 17 },
      prompts: { takenInTokens: 52_817, answeredTokens: 52_817 },
      tokens: 52_817,
    });
  });

  test('of several engines: queued, running and counters are summed, KV is the mean', () => {
    const page = vllmPage([
      { waiting: 3, running: 5, kvUsage: 0.25, finished: 17, latencySumSeconds: 42.5 },
      { waiting: 1, running: 2, kvUsage: 0.75, finished: 3, latencySumSeconds: 7.5 },
    ]);
    assert.deepEqual(sampleOf(page), {
      queued: 4,
      running: 7,
      kvUtilization: 0.5,
      finished: 20,
      latency: { sumSeconds: 50, count: 20 },
      prompts: { takenInTokens: 105_634, answeredTokens: 105_634 },
      tokens: 105_634,
    });
  });

  test('that is idle: zeros are values', () => {
    assert.deepEqual(sampleOf(vllmPage([IDLE])), {
      queued: 0,
      running: 0,
      kvUtilization: 0,
      finished: 0,
      latency: { sumSeconds: 0, count: 0 },
      prompts: { takenInTokens: 52_817, answeredTokens: 52_817 },
      tokens: 52_817,
    });
  });

  test('that has one of the two counters of prompts, or both', () => {
    assert.equal(sampleOf(`${GAUGES}vllm:prompt_tokens_total 400\n`).prompts, undefined);
    const both = `${GAUGES}vllm:prompt_tokens_total 400\nvllm:prefix_cache_queries_total 12400\n`;
    assert.deepEqual(sampleOf(both).prompts, { takenInTokens: 12_400, answeredTokens: 400 });
  });

  test('counts the finished requests of every reason', () => {
    const page = `${GAUGES}vllm:request_success_total{finished_reason="stop"} 4\nvllm:request_success_total{finished_reason="length"} 2\n`;
    assert.equal(sampleOf(page).finished, 6);
  });
});

describe('KV utilisation', () => {
  const load = 'vllm:num_requests_waiting 3\nvllm:num_requests_running 5\n';
  const cases: readonly (readonly [string, string, number, boolean])[] = [
    ['has a name before 0.10', 'vllm:gpu_cache_usage_perc 0.5\n', 0.5, false],
    ['has a name on Ascend', 'vllm:npu_cache_usage_perc 0.5\n', 0.5, false],
    [
      'is read from the new name where both are there',
      'vllm:gpu_cache_usage_perc 0.5\nvllm:kv_cache_usage_perc 0.25\n',
      0.25,
      false,
    ],
    ['may be 1', 'vllm:kv_cache_usage_perc 1\n', 1, false],
    ['just above 1 is full', 'vllm:kv_cache_usage_perc 1.02\n', 1, false],
    ['above 1 is a percentage', 'vllm:kv_cache_usage_perc 25\n', 0.25, true],
    ['may be 100 percent', 'vllm:kv_cache_usage_perc 100\n', 1, true],
    ['just above 100 percent is full', 'vllm:kv_cache_usage_perc 100.5\n', 1, true],
    [
      'is a percentage for all series of a page when one shows it',
      'vllm:kv_cache_usage_perc{engine="0"} 50\nvllm:kv_cache_usage_perc{engine="1"} 1\n',
      0.255,
      true,
    ],
  ];
  for (const [what, lines, expected, percentage] of cases) {
    test(what, () => {
      const reading = read(load + lines);
      assert.ok(reading.kind === 'sample');
      assert.equal(reading.sample.kvUtilization, expected);
      assert.equal(reading.percentage, percentage);
    });
  }
});

describe('no sample comes', () => {
  const waiting = (value: string): string => GAUGES.replace('waiting 3', `waiting ${value}`.trimEnd());
  const cases: readonly (readonly [string, string, string])[] = [
    [waiting('NaN'), 'not_a_number', 'vllm:num_requests_waiting is NaN'],
    [waiting('+Inf'), 'not_a_number', 'vllm:num_requests_waiting is +Inf'],
    [waiting('-1'), 'not_a_number', 'vllm:num_requests_waiting is -1'],
    [waiting('1e300'), 'not_a_number', 'vllm:num_requests_waiting is 1e300'],
    [waiting('many'), 'not_a_number', 'vllm:num_requests_waiting is many'],
    [waiting(''), 'not_a_number', 'vllm:num_requests_waiting is without a value'],
    [
      `${GAUGES}vllm:num_requests_waiting{engine="1"} NaN\n`,
      'not_a_number',
      'vllm:num_requests_waiting is NaN',
    ],
    [
      `${GAUGES}vllm:num_requests_waiting\u0007{"a\n`,
      'not_a_number',
      'vllm:num_requests_waiting is \\u{7}{"a',
    ],
    [GAUGES.replace('0.25', '110.5'), 'not_a_number', 'vllm:kv_cache_usage_perc is 110.5, more than 100 %'],
    [
      GAUGES.replace('num_requests_waiting', 'num_requests_waiting_by_reason'),
      'metric_absent',
      'metric absent: vllm:num_requests_waiting',
    ],
    [
      GAUGES.replace('kv_cache', 'cpu_cache'),
      'metric_absent',
      'metric absent: vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc or vllm:npu_cache_usage_perc',
    ],
    ['# HELP up\nup 1\n', 'metric_absent', 'metric absent: vllm:num_requests_waiting'],
    ['', 'not_metrics', 'not metrics: an empty page'],
    [
      '<!DOCTYPE html><html><body>sign in</body></html>',
      'not_metrics',
      'not metrics: a page that begins with "<!DOCTYPE html><htm…"',
    ],
    ['{"kv": 1}', 'not_metrics', 'not metrics: a page that begins with "{\\"kv\\": 1}"'],
    [
      'vllm:num_requests_waiting 1\n'.repeat(SERIES_MAX + 1),
      'too_large',
      `too large: more than ${SERIES_MAX} series of these metrics, or ${LINES_MAX} lines`,
    ],
  ];
  for (const [page, kind, message] of cases) {
    test(`${kind}: ${message}`, () => assert.deepEqual(failureOf(page), { kind, message }));
  }
});

describe('a metric that carries no weight', () => {
  test('is undefined when it is not usable, and the others are read', () => {
    const page = 'vllm:num_requests_waiting 3\nvllm:kv_cache_usage_perc NaN\n';
    assert.deepEqual(sampleOf(page, ['TotalQueuedRequests']), {
      queued: 3,
      running: undefined,
      kvUtilization: undefined,
      finished: undefined,
      latency: undefined,
    });
  });

  for (const line of ['request_success_total NaN', 'request_success_total -1', 'request_success_total x']) {
    test(`is never a wrong number: ${line}`, () => {
      assert.equal(sampleOf(`${GAUGES}vllm:request_success_total 3\nvllm:${line}\n`).finished, undefined);
    });
  }

  test('has a latency only with both sum and count', () => {
    const count = 'vllm:e2e_request_latency_seconds_count 4\n';
    assert.equal(sampleOf(GAUGES + count).latency, undefined);
    assert.equal(sampleOf(`${GAUGES}${count}vllm:e2e_request_latency_seconds_sum NaN\n`).latency, undefined);
    assert.deepEqual(sampleOf(`${GAUGES}${count}vllm:e2e_request_latency_seconds_sum 2\n`).latency, {
      sumSeconds: 2,
      count: 4,
    });
  });
});

test('messages are bounded', () => {
  assert.ok(failureOf(`${GAUGES}vllm:num_requests_waiting{${'\u0001'.repeat(9000)}\n`).message.length < 600);
  assert.ok(failureOf('\u0001'.repeat(9000)).message.length < 300);
});

/** The values of one vLLM engine (data-parallel rank). */
export interface VllmValues {
  readonly waiting: number | string;
  readonly running: number | string;
  readonly kvUsage: number | string;
  readonly finished: number;
  readonly latencySumSeconds: number;
}

export const IDLE: VllmValues = { waiting: 0, running: 0, kvUsage: 0, finished: 0, latencySumSeconds: 0 };

const MODEL = 'model_name="meta-llama/Llama-3.1-8B-Instruct"';
const SECONDS = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
];
const SHORT = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40];
const TOKENS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];
const HISTOGRAMS: readonly (readonly [string, readonly number[]])[] = [
  ['vllm:request_prompt_tokens', TOKENS],
  ['vllm:request_generation_tokens', TOKENS],
  ['vllm:iteration_tokens_total', TOKENS],
  ['vllm:request_max_num_generation_tokens', TOKENS],
  ['vllm:request_params_n', [1, 2, 5, 10, 20]],
  ['vllm:request_params_max_tokens', TOKENS],
  ['vllm:time_to_first_token_seconds', SHORT],
  ['vllm:inter_token_latency_seconds', SHORT],
  ['vllm:request_time_per_output_token_seconds', SHORT],
  ['vllm:e2e_request_latency_seconds', SECONDS],
  ['vllm:request_queue_time_seconds', SECONDS],
  ['vllm:request_inference_time_seconds', SECONDS],
  ['vllm:request_prefill_time_seconds', SECONDS],
  ['vllm:request_decode_time_seconds', SECONDS],
];
const COUNTERS = [
  'vllm:prefix_cache_queries',
  'vllm:prefix_cache_hits',
  'vllm:mm_cache_queries',
  'vllm:mm_cache_hits',
  'vllm:num_preemptions',
  'vllm:prompt_tokens',
  'vllm:generation_tokens',
];

/**
 * A metrics page with names, labels and buckets as vLLM 0.11 has them: about 45 kB for one engine.
 * Only the values that are read are set; the others are plausible.
 */
export function vllmPage(engines: readonly VllmValues[]): string {
  const each = (line: (engine: string, values: VllmValues) => string): string =>
    engines.map((values, index) => line(`engine="${index}",${MODEL}`, values)).join('');
  return [
    pythonFamilies(),
    gauge('vllm:num_requests_running', (v) => v.running),
    gauge('vllm:num_requests_waiting', (v) => v.waiting),
    head('vllm:num_requests_waiting_by_reason', 'gauge'),
    each((at) => `vllm:num_requests_waiting_by_reason{${at},reason="capacity"} 7.0\n`),
    head('vllm:engine_sleep_state', 'gauge'),
    each((at) => `vllm:engine_sleep_state{${at},sleep_state="awake"} 1.0\n`),
    gauge('vllm:kv_cache_usage_perc', (v) => v.kvUsage),
    ...COUNTERS.map((name) => counter(name)),
    head('vllm:request_success_total', 'counter'),
    each((at, v) => successes(at, v.finished)),
    ...HISTOGRAMS.map(([name, bounds]) => histogram(name, bounds)),
    head('vllm:cache_config_info', 'gauge'),
    each(
      (at) => `vllm:cache_config_info{block_size="16",cache_dtype="auto",${at},num_gpu_blocks="27824"} 1.0\n`,
    ),
  ].join('');

  function gauge(name: string, value: (values: VllmValues) => number | string): string {
    return head(name, 'gauge') + each((at, values) => `${name}{${at}} ${python(value(values))}\n`);
  }
  function counter(name: string): string {
    const series = each((at) => `${name}_total{${at}} 52817.0\n`);
    return `${head(`${name}_total`, 'counter')}${series}${head(`${name}_created`, 'gauge')}${each((at) => `${name}_created{${at}} 1.7606e+09\n`)}`;
  }
  function histogram(name: string, bounds: readonly number[]): string {
    const series = each((at, values) => buckets(name, at, bounds, values));
    return `${head(name, 'histogram')}${series}${head(`${name}_created`, 'gauge')}${each((at) => `${name}_created{${at}} 1.7606e+09\n`)}`;
  }
}

function successes(at: string, finished: number): string {
  const reasons = { stop: finished, length: 0, abort: 0, error: 0 };
  return Object.entries(reasons)
    .map(
      ([reason, count]) => `vllm:request_success_total{${at},finished_reason="${reason}"} ${python(count)}\n`,
    )
    .join('');
}

function buckets(name: string, at: string, bounds: readonly number[], values: VllmValues): string {
  const lines = bounds.map(
    (bound) => `${name}_bucket{${at},le="${python(bound)}"} ${python(values.finished)}\n`,
  );
  const sum = name === 'vllm:e2e_request_latency_seconds' ? values.latencySumSeconds : 17.25;
  return `${lines.join('')}${name}_bucket{${at},le="+Inf"} ${python(values.finished)}\n${name}_count{${at}} ${python(values.finished)}\n${name}_sum{${at}} ${python(sum)}\n`;
}

function pythonFamilies(): string {
  const gc = ['0', '1', '2']
    .map((at) => `python_gc_objects_collected_total{generation="${at}"} 11394.0\n`)
    .join('');
  const http = SHORT.map(
    (le) => `http_request_duration_seconds_bucket{handler="/v1/completions",le="${le}"} 12.0\n`,
  );
  return [
    head('python_gc_objects_collected_total', 'counter'),
    gc,
    head('process_resident_memory_bytes', 'gauge'),
    'process_resident_memory_bytes 1.158361088e+09\n',
    head('http_request_duration_seconds', 'histogram'),
    ...http,
  ].join('');
}

function head(name: string, type: string): string {
  return `# HELP ${name} What ${name} is, in a sentence of the usual length.\n# TYPE ${name} ${type}\n`;
}

/** Python prints floats with a fraction. */
function python(value: number | string): string {
  return typeof value === 'number' && Number.isInteger(value) ? `${value}.0` : String(value);
}

import type { FinishedRequest } from './engine.ts';
import { Histogram, pythonNumber } from './histogram.ts';
import type { EngineView, Page } from './page.ts';

/**
 * The metrics page of a simulated backend: vLLM's families and labels, and those of the Python process and the HTTP
 * framework around it, about 40 kB. What the engine knows is live; the rest is constant.
 */

const LENGTHS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000,
] as const;
const STEP_TOKENS = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384] as const;
const FIRST_TOKEN_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
  2560,
] as const;
const TOKEN_SECONDS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
] as const;
const REQUEST_SECONDS = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
] as const;
const HTTP_SECONDS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30, 60,
] as const;
const BLOCK_TOKENS = 16;

/** Counts what finished requests tell, and renders the page. */
export class MetricsPage implements Page {
  readonly #labels: string;
  readonly #promptTokens = new Histogram(LENGTHS);
  readonly #outputTokens = new Histogram(LENGTHS);
  readonly #computedTokens = new Histogram(LENGTHS);
  readonly #stepTokens = new Histogram(STEP_TOKENS);
  readonly #firstToken = new Histogram(FIRST_TOKEN_SECONDS);
  readonly #perToken = new Histogram(TOKEN_SECONDS);
  readonly #endToEnd = new Histogram(REQUEST_SECONDS);
  readonly #queue = new Histogram(REQUEST_SECONDS);
  readonly #prefill = new Histogram(REQUEST_SECONDS);
  readonly #decode = new Histogram(REQUEST_SECONDS);
  readonly #inference = new Histogram(REQUEST_SECONDS);
  readonly #n = new Histogram([1, 2, 5, 10, 20]);
  readonly #httpRequests = new Histogram(HTTP_SECONDS);

  constructor(modelName: string) {
    this.#labels = `engine="0",model_name="${modelName}"`;
  }

  record(result: FinishedRequest): void {
    const { request, arrivedMs, scheduledMs, firstTokenMs, finishedMs } = result;
    const endToEnd = (finishedMs - arrivedMs) / 1000;
    const decode = (finishedMs - firstTokenMs) / 1000;
    this.#promptTokens.observe(request.promptTokens);
    this.#computedTokens.observe(request.promptTokens);
    this.#outputTokens.observe(request.outputTokens);
    this.#firstToken.observe((firstTokenMs - arrivedMs) / 1000);
    if (request.outputTokens > 1) this.#perToken.observe(decode / (request.outputTokens - 1));
    this.#endToEnd.observe(endToEnd);
    this.#queue.observe((scheduledMs - arrivedMs) / 1000);
    this.#prefill.observe((firstTokenMs - scheduledMs) / 1000);
    this.#decode.observe(decode);
    this.#inference.observe((finishedMs - scheduledMs) / 1000);
    this.#n.observe(1);
    this.#httpRequests.observe(endToEnd);
  }

  render(engine: EngineView): string {
    return processFamilies(engine) + this.#vllm(engine) + this.#http();
  }

  #vllm(engine: EngineView): string {
    const { gauges, counters, settings } = engine;
    const plain = (name: string, kind: string, help: string, value: number): string =>
      family(name, kind, help) + sample(name, this.#labels, value);
    const counter = (name: string, help: string, value: number): string =>
      plain(`${name}_total`, 'counter', help, value) +
      plain(`${name}_created`, 'gauge', help, CREATED_SECONDS);
    const labelled = (name: string, kind: string, help: string, label: string, values: Values): string =>
      family(name, kind, help) +
      values.map(([text, value]) => sample(name, `${this.#labels},${label}="${text}"`, value)).join('');
    const histogram = (name: string, help: string, values: Histogram): string =>
      family(name, 'histogram', help) +
      values.lines(name, this.#labels) +
      plain(`${name}_created`, 'gauge', help, CREATED_SECONDS);
    const blocks = Math.floor(settings.kvTokens / BLOCK_TOKENS);
    return [
      plain('vllm:num_requests_running', 'gauge', 'Requests in the running batch.', gauges.running),
      plain('vllm:num_requests_waiting', 'gauge', 'Requests that wait to be scheduled.', gauges.waiting),
      labelled(
        'vllm:num_requests_waiting_by_reason',
        'gauge',
        'Waiting requests by what they wait for.',
        'reason',
        [
          ['capacity', gauges.waiting],
          ['deferred', 0],
        ],
      ),
      labelled(
        'vllm:engine_sleep_state',
        'gauge',
        'Sleep state; awake is 1 while it serves.',
        'sleep_state',
        [
          ['awake', 1],
          ['weights_offloaded', 0],
          ['discard_all', 0],
        ],
      ),
      plain('vllm:kv_cache_usage_perc', 'gauge', 'Used share of the KV cache, 0 to 1.', gauges.kvUtilization),
      counter('vllm:prefix_cache_queries', 'Tokens looked up in the prefix cache.', counters.takenInTokens),
      counter('vllm:prefix_cache_hits', 'Tokens found in the prefix cache.', 0),
      counter('vllm:external_prefix_cache_queries', 'Tokens looked up through a KV connector.', 0),
      counter('vllm:external_prefix_cache_hits', 'Tokens found through a KV connector.', 0),
      counter('vllm:mm_cache_queries', 'Items looked up in the multi-modal cache.', 0),
      counter('vllm:mm_cache_hits', 'Items found in the multi-modal cache.', 0),
      counter('vllm:num_preemptions', 'Sequences preempted for want of KV cache.', counters.preemptions),
      counter('vllm:prompt_tokens', 'Tokens of prompts that are computed.', counters.promptTokens),
      counter('vllm:generation_tokens', 'Tokens generated.', counters.generatedTokens),
      labelled(
        'vllm:request_success_total',
        'counter',
        'Finished requests by how they ended.',
        'finished_reason',
        [
          ['stop', 0],
          ['length', counters.finished],
          ['abort', 0],
          ['error', 0],
        ],
      ),
      labelled(
        'vllm:request_success_created',
        'gauge',
        'Finished requests by how they ended.',
        'finished_reason',
        [
          ['stop', CREATED_SECONDS],
          ['length', CREATED_SECONDS],
          ['abort', CREATED_SECONDS],
          ['error', CREATED_SECONDS],
        ],
      ),
      histogram('vllm:request_prompt_tokens', 'Prompt tokens of a request.', this.#promptTokens),
      histogram('vllm:request_generation_tokens', 'Tokens generated for a request.', this.#outputTokens),
      histogram('vllm:iteration_tokens_total', 'Tokens that a step computes.', this.#stepTokens),
      histogram('vllm:request_max_num_generation_tokens', 'Most tokens asked for.', this.#outputTokens),
      histogram('vllm:request_params_n', 'Value of the parameter n.', this.#n),
      histogram('vllm:request_params_max_tokens', 'Value of the parameter max_tokens.', this.#outputTokens),
      histogram('vllm:time_to_first_token_seconds', 'From arrival to the first token.', this.#firstToken),
      histogram('vllm:inter_token_latency_seconds', 'From one token to the next.', this.#perToken),
      histogram('vllm:request_time_per_output_token_seconds', 'Mean time per token.', this.#perToken),
      histogram('vllm:e2e_request_latency_seconds', 'From arrival to the last token.', this.#endToEnd),
      histogram('vllm:request_queue_time_seconds', 'Time spent in the queue.', this.#queue),
      histogram('vllm:request_inference_time_seconds', 'Time spent running.', this.#inference),
      histogram('vllm:request_prefill_time_seconds', 'Time spent in prefill.', this.#prefill),
      histogram('vllm:request_decode_time_seconds', 'Time spent decoding.', this.#decode),
      histogram('vllm:request_prefill_kv_computed_tokens', 'Prompt tokens not cached.', this.#computedTokens),
      family('vllm:cache_config_info', 'gauge', 'Settings of the KV cache.'),
      sample('vllm:cache_config_info', cacheLabels(blocks), 1),
      family('vllm:lora_requests_info', 'gauge', 'LoRA adapters in use.'),
    ].join('');
  }

  #http(): string {
    const done = this.#httpRequests.count;
    const labels = 'handler="/v1/completions",method="POST"';
    return [
      family('http_requests_total', 'counter', 'Requests by method, status and handler.'),
      sample('http_requests_total', 'handler="/v1/completions",method="POST",status="2xx"', done),
      family('http_request_size_bytes', 'summary', 'Bytes of request bodies.'),
      sample('http_request_size_bytes_count', 'handler="/v1/completions"', done),
      sample('http_request_size_bytes_sum', 'handler="/v1/completions"', done * 1024),
      family('http_response_size_bytes', 'summary', 'Bytes of response bodies.'),
      sample('http_response_size_bytes_count', 'handler="/v1/completions"', done),
      sample('http_response_size_bytes_sum', 'handler="/v1/completions"', done * 4096),
      family('http_request_duration_highr_seconds', 'histogram', 'Latency, fine buckets, over all handlers.'),
      this.#httpRequests.lines('http_request_duration_highr_seconds', 'app="api"'),
      family('http_request_duration_seconds', 'histogram', 'Latency, coarse buckets, by handler.'),
      this.#httpRequests.lines('http_request_duration_seconds', labels),
    ].join('');
  }
}

type Values = readonly (readonly [text: string, value: number])[];

/** A start time as Python's client reports it; constant, so that equal states give equal pages. */
const CREATED_SECONDS = 1_767_225_600.25;

function family(name: string, kind: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${pythonNumber(value)}\n`;
}

function cacheLabels(blocks: number): string {
  return (
    `block_size="${BLOCK_TOKENS}",cache_dtype="auto",calculate_kv_scales="False",cpu_offload_gb="0",` +
    `enable_prefix_caching="True",engine="0",gpu_memory_utilization="0.9",is_attention_free="False",` +
    `num_cpu_blocks="None",num_gpu_blocks="${blocks}",num_gpu_blocks_override="None",` +
    'prefix_caching_hash_algo="sha256",sliding_window="None",swap_space="4",swap_space_bytes="4294967296.0"'
  );
}

/** What Python's client says of every process. */
function processFamilies(engine: EngineView): string {
  const generations = ['0', '1', '2'].map((generation) => `generation="${generation}"`);
  const perGeneration = (name: string, help: string, value: number): string =>
    family(name, 'counter', help) + generations.map((labels) => sample(name, labels, value)).join('');
  const single = (name: string, kind: string, help: string, value: number): string =>
    family(name, kind, help) + sample(name, '', value);
  return [
    perGeneration('python_gc_objects_collected_total', 'Objects that the collector freed.', 9241),
    perGeneration('python_gc_objects_uncollectable_total', 'Objects that it could not free.', 0),
    perGeneration('python_gc_collections_total', 'Runs of the collector.', 1207),
    family('python_info', 'gauge', 'The Python that runs this.'),
    sample(
      'python_info',
      'implementation="CPython",major="3",minor="12",patchlevel="11",version="3.12.11"',
      1,
    ),
    single('process_virtual_memory_bytes', 'gauge', 'Virtual memory.', 11_811_160_064),
    single('process_resident_memory_bytes', 'gauge', 'Resident memory.', 1_073_741_824),
    single('process_start_time_seconds', 'gauge', 'Start time since the epoch.', CREATED_SECONDS),
    single('process_cpu_seconds_total', 'counter', 'CPU time.', engine.counters.steps / 1000),
    single('process_open_fds', 'gauge', 'Open file descriptors.', 64),
    single('process_max_fds', 'gauge', 'Limit of file descriptors.', 1_048_576),
  ].join('');
}

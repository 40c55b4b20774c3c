import { type Engine, histogram } from './engine.ts';

/** Also its Ascend builds. One series of each metric for each data-parallel engine, by the label `engine`. */
export const VLLM: Engine = {
  name: 'Vllm',
  product: 'vLLM',
  path: '/metrics',
  port: undefined,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: 'vllm:num_requests_waiting' }],
    RunningRequests: [{ name: 'vllm:num_requests_running' }],
    KVCacheUtilization: [
      { name: 'vllm:kv_cache_usage_perc' },
      { name: 'vllm:gpu_cache_usage_perc', former: true },
      { name: 'vllm:npu_cache_usage_perc', former: true },
    ],
  },
  mayCountToHundred: false,
  finished: [{ name: 'vllm:request_success_total' }],
  latency: histogram('vllm:e2e_request_latency_seconds'),
  // the first counts a prompt with the step that begins with it, the second as a whole with the one that ends it
  prompts: {
    takenIn: [{ name: 'vllm:prefix_cache_queries_total' }],
    answered: [{ name: 'vllm:prompt_tokens_total' }],
  },
  // a block of KV cache is 16 tokens, but of a hybrid model thousands: its gauge may stand still for minutes
  tokens: [{ name: 'vllm:generation_tokens_total' }],
  // also 0 while only a part of it is awake again
  awake: [{ name: 'vllm:engine_sleep_state', labels: { sleep_state: 'awake' } }],
  source: {
    kind: 'source',
    repository: 'vllm-project/vllm',
    version: '0.32.0',
    file: 'vllm/v1/metrics/loggers.py',
  },
  note: 'Before 0.10 the KV gauge is `vllm:gpu_cache_usage_perc`, in Ascend builds `vllm:npu_cache_usage_perc`; where both are there the new one counts.',
};

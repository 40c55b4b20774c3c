import type { Engine } from './engine.ts';

/** vLLM and its Ascend builds. One series of each gauge for each data-parallel engine. */
export const VLLM: Engine = {
  name: 'Vllm',
  gauges: {
    TotalQueuedRequests: { names: ['vllm:num_requests_waiting'] },
    RunningRequests: { names: ['vllm:num_requests_running'] },
    // Since 0.10; before it; Ascend.
    KVCacheUtilization: {
      names: ['vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc', 'vllm:npu_cache_usage_perc'],
    },
  },
  finished: { names: ['vllm:request_success_total'] },
  latency: {
    sum: { names: ['vllm:e2e_request_latency_seconds_sum'] },
    count: { names: ['vllm:e2e_request_latency_seconds_count'] },
  },
};

import { type Engine, histogram } from './engine.ts';

export const TRT_LLM: Engine = {
  name: 'TrtLlm',
  product: 'TensorRT-LLM (trtllm-serve)',
  path: '/prometheus/metrics',
  port: undefined,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: 'trtllm_num_requests_waiting' }],
    RunningRequests: [{ name: 'trtllm_num_requests_running' }],
    KVCacheUtilization: [{ name: 'trtllm_kv_cache_utilization' }],
  },
  mayCountToHundred: false,
  finished: [{ name: 'trtllm_request_success_total' }],
  latency: histogram('trtllm_e2e_request_latency_seconds'),
  awake: [],
  source: {
    kind: 'source',
    repository: 'NVIDIA/TensorRT-LLM',
    version: 'main of 2026, after 1.2',
    file: 'tensorrt_llm/metrics/collector.py',
  },
  note: '`/metrics` there is JSON. The gauges need `enable_iter_perf_stats: true`, the counters `return_perf_metrics: true`.',
};

import { type Engine, histogram } from './engine.ts';

export const NIM: Engine = {
  name: 'Nim',
  product: 'NVIDIA NIM',
  path: '/v1/metrics',
  port: undefined,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: 'num_requests_waiting' }],
    RunningRequests: [{ name: 'num_requests_running' }],
    KVCacheUtilization: [{ name: 'gpu_cache_usage_perc' }],
  },
  mayCountToHundred: false,
  finished: [{ name: 'request_success_total' }],
  latency: histogram('e2e_request_latency_seconds'),
  // the documentation does not tell in which steps its KV gauge moves
  coarse: true,
  awake: [],
  source: { kind: 'documentation', document: 'Observability for NVIDIA NIM for LLMs, 1.x' },
  note: 'Names without a prefix. A NIM that shows those of vLLM is found as `Vllm`.',
};

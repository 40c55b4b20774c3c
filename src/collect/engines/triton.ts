import type { Engine } from './engine.ts';

const REQUESTS = 'nv_trt_llm_request_metrics';
/** Triton counts requests for each model, also for those before and behind the engine, through which all of them go. */
const OF_ENGINES = { sharing: { label: 'model', family: REQUESTS } };

export const TRITON: Engine = {
  name: 'Triton',
  product: 'Triton with its TensorRT-LLM backend',
  path: '/metrics',
  port: 8002,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: REQUESTS, labels: { request_type: 'waiting' } }],
    RunningRequests: [{ name: REQUESTS, labels: { request_type: 'scheduled' } }],
    KVCacheUtilization: [
      { name: 'nv_trt_llm_kv_cache_block_metrics', labels: { kv_cache_block_type: 'fraction' } },
    ],
  },
  mayCountToHundred: false,
  finished: [
    { name: 'nv_inference_request_success', ...OF_ENGINES },
    { name: 'nv_inference_request_success_total', ...OF_ENGINES },
  ],
  latency: { sum: [], count: [] },
  awake: [],
  source: {
    kind: 'source',
    repository: 'NVIDIA/TensorRT-LLM',
    version: 'main of 2026',
    file: 'triton_backend/inflight_batcher_llm/src/custom_metrics_reporter/custom_metrics_reporter.cc',
  },
  note: 'Of finished requests only those of models that have the gauges are counted, not those of an ensemble around them. Triton with its vLLM backend is found as `Vllm`.',
};

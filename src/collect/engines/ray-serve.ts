import { type Engine, histogram } from './engine.ts';

/** vLLM's names as Ray takes them: its node's page has the series of all replicas that run there. */
export const RAY_SERVE: Engine = {
  name: 'RayServe',
  product: 'Ray Serve LLM (vLLM)',
  path: '/metrics',
  port: undefined,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: 'ray_vllm_num_requests_waiting' }],
    RunningRequests: [{ name: 'ray_vllm_num_requests_running' }],
    KVCacheUtilization: [
      { name: 'ray_vllm_kv_cache_usage_perc' },
      { name: 'ray_vllm_gpu_cache_usage_perc', former: true },
    ],
  },
  mayCountToHundred: false,
  finished: [{ name: 'ray_vllm_request_success_total' }],
  latency: histogram('ray_vllm_e2e_request_latency_seconds'),
  // Ray takes the numbers over every 10 s (metrics_report_interval_ms)
  coarse: true,
  awake: [{ name: 'ray_vllm_engine_sleep_state', labels: { sleep_state: 'awake' } }],
  source: {
    kind: 'source',
    repository: 'vllm-project/vllm',
    version: '0.32.0',
    file: 'vllm/v1/metrics/ray_wrappers.py',
  },
  note: "One page has all replicas of a node; `Metrics.Labels` narrows it, as by `ReplicaId`. Give the port of Ray's metrics agent with `Port`.",
};

import { type Engine, histogram } from './engine.ts';

/** One series of each metric for each data-parallel rank, by the label `engine`. */
export const LM_DEPLOY: Engine = {
  name: 'LmDeploy',
  product: 'LMDeploy',
  path: '/metrics',
  port: undefined,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: 'lmdeploy:num_requests_waiting' }],
    RunningRequests: [{ name: 'lmdeploy:num_requests_running' }],
    KVCacheUtilization: [{ name: 'lmdeploy:gpu_cache_usage_perc' }],
  },
  mayCountToHundred: false,
  finished: [{ name: 'lmdeploy:request_success_total' }],
  latency: histogram('lmdeploy:e2e_request_latency_seconds'),
  // its server renews the gauges with its log, every 10 s
  coarse: true,
  awake: [],
  source: {
    kind: 'source',
    repository: 'InternLM/lmdeploy',
    version: '0.16.0',
    file: 'lmdeploy/metrics/loggers.py',
  },
  note: 'Only with `--enable-metrics`.',
};

import type { Engine } from './engine.ts';

export const MIND_IE: Engine = {
  name: 'MindIe',
  product: 'MindIE',
  path: '/metrics',
  port: 1027,
  scheme: 'https',
  gauges: {
    TotalQueuedRequests: [{ name: 'num_requests_waiting' }],
    RunningRequests: [{ name: 'num_requests_running' }],
    KVCacheUtilization: [{ name: 'npu_cache_usage_perc' }],
  },
  mayCountToHundred: true,
  finished: [{ name: 'request_success_total' }],
  latency: { sum: [], count: [] },
  // the documentation does not tell in which steps its KV gauge moves
  coarse: true,
  awake: [],
  source: {
    kind: 'documentation',
    document: 'MindIE LLM 2.1 to 3.0, metrics in Prometheus format and metricsPort',
  },
  note: 'Only with `MIES_SERVICE_MONITOR_MODE=1`. KV utilisation is shown as 0 to 1 or as 0 to 100: a value above 1.1 tells, and is remembered.',
};

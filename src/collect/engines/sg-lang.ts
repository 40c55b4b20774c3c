import { type Engine, histogram } from './engine.ts';

/** Beside the total there is a series for each priority; only that of the total has an empty label. */
const TOTAL = { priority: '' };
/** Ranks of one data-parallel group (tensor, pipeline, expert) each show the load of the whole group. */
const ONE_PER = 'dp_rank';

export const SG_LANG: Engine = {
  name: 'SgLang',
  product: 'SGLang',
  path: '/metrics',
  port: undefined,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: 'sglang:num_queue_reqs', labels: TOTAL, onePer: ONE_PER }],
    RunningRequests: [{ name: 'sglang:num_running_reqs', labels: TOTAL, onePer: ONE_PER }],
    KVCacheUtilization: [{ name: 'sglang:token_usage', labels: TOTAL, onePer: ONE_PER }],
  },
  mayCountToHundred: false,
  finished: [{ name: 'sglang:num_requests_total' }],
  latency: histogram('sglang:e2e_request_latency_seconds'),
  // most versions round the KV gauge to hundredths, each of thousands of tokens
  tokens: [{ name: 'sglang:num_used_tokens', labels: TOTAL, onePer: ONE_PER }],
  coarse: true,
  awake: [],
  source: {
    kind: 'source',
    repository: 'sgl-project/sglang',
    version: '0.5.23',
    file: 'python/sglang/srt/observability/metrics_collector.py',
  },
  note: 'Only with `--enable-metrics`; the gauges are there from the first batch on. Ranks that repeat the same load are counted once per `dp_rank`, and of priorities only the total. All gauges are renewed every `--decode-log-interval` steps (40).',
};

import type { Engine } from './engine.ts';

/** Of a worker, whose page also has endpoints that serve no requests. */
const GENERATE = { labels: { dynamo_endpoint: 'generate' } };

/** A frontend shows what it has taken in, a worker what it runs; a page is of one of the two. */
export const DYNAMO: Engine = {
  name: 'Dynamo',
  product: 'NVIDIA Dynamo',
  path: '/metrics',
  port: undefined,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: 'dynamo_frontend_queued_requests', some: true }],
    RunningRequests: [
      { name: 'dynamo_component_inflight_requests', ...GENERATE },
      { name: 'dynamo_frontend_inflight_requests' },
    ],
    KVCacheUtilization: [{ name: 'dynamo_component_gpu_cache_usage_percent', some: true }],
  },
  mayCountToHundred: false,
  finished: [
    { name: 'dynamo_component_requests_total', ...GENERATE },
    { name: 'dynamo_frontend_requests_total' },
  ],
  latency: {
    sum: [
      { name: 'dynamo_component_request_duration_seconds_sum', ...GENERATE },
      { name: 'dynamo_frontend_request_duration_seconds_sum' },
    ],
    count: [
      { name: 'dynamo_component_request_duration_seconds_count', ...GENERATE },
      { name: 'dynamo_frontend_request_duration_seconds_count' },
    ],
  },
  // a worker passes on the KV gauge of its engine, and that of SGLang is rounded to hundredths
  coarse: true,
  awake: [],
  source: {
    kind: 'source',
    repository: 'ai-dynamo/dynamo',
    version: 'main of 2026',
    file: 'lib/runtime/src/metrics/prometheus_names.rs',
  },
  note: 'A frontend has no KV gauge, and its running requests include the queued ones; a worker has no queue: what is not there is left out. KV utilisation is 0 to 1 despite its name. A worker that also shows the metrics of its vLLM or SGLang is found as that.',
};

import type { Engine } from './engine.ts';

export const LLAMA_CPP: Engine = {
  name: 'LlamaCpp',
  product: 'llama.cpp (llama-server)',
  path: '/metrics',
  port: undefined,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: 'llamacpp:requests_deferred' }],
    RunningRequests: [{ name: 'llamacpp:requests_processing' }],
    KVCacheUtilization: [{ name: 'llamacpp:kv_cache_usage_ratio', former: true }],
  },
  mayCountToHundred: false,
  finished: [],
  latency: { sum: [], count: [] },
  awake: [],
  source: {
    kind: 'source',
    repository: 'ggml-org/llama.cpp',
    version: 'master of 2026',
    file: 'tools/server/server-context.cpp',
  },
  note: 'Only with `--metrics`. A collection counts as use: a server with `--sleep-idle-seconds` never falls asleep. `llamacpp:kv_cache_usage_ratio` of older versions is read where it is there.',
};

import type { Signal } from './signal.ts';

/** Share of the KV cache in use, 0..1. */
export const kvCacheUtilization: Signal = {
  name: 'KVCacheUtilization',
  has: (metrics) => metrics.kv,
  values: (loads) => loads.kv,
  mean: (means) => means.kv,
  scale: (means) => Math.max(means.kv, 0.1),
  spread: (means) => Math.max(0.2, means.kv),
};

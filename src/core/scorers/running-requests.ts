import type { Signal } from './signal.ts';

/** Requests inside the backend, running and queued ones: a queue is not lighter for being a queue. */
export const runningRequests: Signal = {
  name: 'RunningRequests',
  has: (metrics) => metrics.running,
  values: (loads) => loads.inside,
  mean: (means) => means.inside,
  scale: (means) => Math.max(means.inside, 8),
  spread: (means) => Math.max(8, means.inside),
};

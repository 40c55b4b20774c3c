import { runningRequests } from './running-requests.ts';
import type { Signal } from './signal.ts';

/** Requests that wait for a slot: the dearest kind of load, so one of them counts like sixteen inside. */
export const totalQueuedRequests: Signal = {
  name: 'TotalQueuedRequests',
  has: (metrics) => metrics.queued,
  values: (loads) => loads.queued,
  mean: (means) => means.queued,
  scale: (means) => Math.max(runningRequests.scale(means) / 16, 1),
  spread: (means) => Math.max(4, means.inside / 4),
};

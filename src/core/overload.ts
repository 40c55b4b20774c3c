import { at } from './at.ts';
import { isUsable } from './freshness.ts';
import type { BackendMemory } from './memory.ts';
import type { SampleUse } from './model/decision.ts';
import { insideOf, progressOf } from './progress.ts';

/**
 * What queues in a group, over the backends with a fresh sample that are not frozen, the saturated ones included. One that
 * does not answer for the first time counts by its last sample: half of the backends must not become most of them by that.
 */
export interface Overload {
  /** How many take traffic, whether they answer or not. */
  readonly members: number;
  /** How many have a gauge of queued requests: N of the rule. At least 1. */
  readonly backends: number;
  /** How many of them are above their mark. */
  readonly marked: number;
  /** Of an even number the lower one of the two in the middle: half the backends are not the group. */
  readonly medianQueued: number;
  /** A queue far above the median counts as 10 + 3 medians: one stuck backend is no overload. */
  readonly meanQueued: number;
  /** Requests finished since the samples before, and the backend-seconds between them. */
  readonly finished: number;
  readonly seconds: number;
}

/** What there is to know of the queues. */
export type QueueView =
  | { readonly kind: 'queues'; readonly overload: Overload }
  /** No backend has a fresh sample that counts. */
  | { readonly kind: 'unseen' }
  /** The backends answer, but their engines lack a metric that is needed. */
  | { readonly kind: 'lacking'; readonly metric: 'queued requests' | 'finished requests' };

/**
 * @param before as of the previous evaluation, like the others in roster order
 * @param uses which samples count
 * @param lackedCounter whether no engine had a counter of finished requests when one was last needed
 */
export function viewQueues(
  before: readonly BackendMemory[],
  after: readonly BackendMemory[],
  uses: readonly SampleUse[],
  intervalSeconds: number,
  lackedCounter: boolean,
): QueueView {
  const queues: number[] = [];
  let members = 0;
  let marked = 0;
  let seen = false;
  let hasCounter = false;
  let mayGetCounter = false;
  let finished = 0;
  let seconds = 0;
  for (let index = 0; index < after.length; index++) {
    const memory = at(after, index);
    const use = at(uses, index);
    if (use !== 'aside' && use !== 'asleep' && use !== 'draining') members++;
    if (memory.sample === undefined || !isUsable(use)) continue;
    if (memory.sample.queued !== undefined) {
      queues.push(memory.sample.queued);
      if (memory.mark.saturated) marked++;
    }
    if (use !== 'fresh') continue;
    seen = true;
    // before the first request an engine may not show the counter yet
    if (memory.sample.finished !== undefined) hasCounter = true;
    else if (insideOf(memory.sample) === 0 && !lackedCounter) mayGetCounter = true;
    const progress = progressOf(at(before, index), memory, intervalSeconds);
    finished += progress?.mostFinished ?? 0;
    seconds += progress?.seconds ?? 0;
  }
  if (!seen) return { kind: 'unseen' };
  if (queues.length === 0) return { kind: 'lacking', metric: 'queued requests' };
  if (!hasCounter && !mayGetCounter) return { kind: 'lacking', metric: 'finished requests' };
  return { kind: 'queues', overload: { ...summaryOf(queues), members, marked, finished, seconds } };
}

function summaryOf(queues: readonly number[]): Pick<Overload, 'backends' | 'medianQueued' | 'meanQueued'> {
  const backends = queues.length;
  const sorted = Float64Array.from(queues).sort();
  const medianQueued = at(sorted, (backends - 1) >> 1);
  const most = 10 + 3 * medianQueued;
  return {
    backends,
    medianQueued,
    meanQueued: sorted.reduce((sum, queued) => sum + Math.min(queued, most), 0) / backends,
  };
}

import { at } from './at.ts';
import type { PromptBasis } from './model/basis.ts';
import type { Sample } from './model/collection.ts';

/** Prompts that a backend has taken in and not answered yet. Whoever comes later waits for them. */
export interface PromptBacklog {
  readonly tokens: number;
  /** What the two counters differ by when there are none: prompts that were cancelled stay in it for good. */
  readonly settled: number;
}

/** What is remembered of a backend for it. */
export interface PromptMemory {
  readonly sample: Sample | undefined;
  readonly sampledAtMs: number;
  /** Of that sample; undefined: the engine does not tell. */
  readonly prompts: PromptBacklog | undefined;
}

/** How fast all backends compute prompts, by sums that fade together. */
export interface PromptPace {
  /** Of prompts that were answered. */
  readonly tokens: number;
  /** For how long backends had any, per unit of configured share. */
  readonly seconds: number;
}

export const NO_PACE: PromptPace = { tokens: 0, seconds: 0 };

/** So fast the difference that is left of a backlog counts as settled: a busy engine seldom shows none. */
const SETTLING_SECONDS = 30;
const MEMORY_SECONDS = 60;
const MEMORY_RUNS = 6;
/** Of backlog, before a pace is believed. */
const SECONDS_NEEDED = 5;
/** No engine computes more tokens: keeps the sums finite, whatever a page says. */
const MOST_PER_SECOND = 10_000_000;
/** No backlog counts as longer. */
const LONGEST_SECONDS = 3600;
/** A backend keeps at least this part of its weight. */
const LEAST_FREE = 0.1;

/** @returns undefined: the engine does not tell */
export function observeBacklog(
  { sample: past, prompts: before }: Pick<PromptMemory, 'sample' | 'prompts'>,
  sample: Sample,
  elapsedSeconds: number,
): PromptBacklog | undefined {
  if (sample.prompts === undefined) return undefined;
  const difference = sample.prompts.takenInTokens - sample.prompts.answeredTokens;
  if (
    before === undefined ||
    (sample.queued ?? 0) + (sample.running ?? 0) === 0 ||
    hasRestarted(past, sample)
  ) {
    return { tokens: 0, settled: difference };
  }
  const kept = Math.exp(-elapsedSeconds / SETTLING_SECONDS);
  const settled = Math.min(difference, difference + kept * (before.settled - difference));
  return { tokens: difference - settled, settled };
}

function hasRestarted(past: Sample | undefined, { prompts }: Sample): boolean {
  return (prompts?.answeredTokens ?? 0) < (past?.prompts?.answeredTokens ?? 0);
}

/**
 * Adds what the backends computed between their last two samples.
 * @param counts whether a backend's sample is fresh
 */
export function observePace(
  pace: PromptPace,
  memories: { readonly past: readonly PromptMemory[]; readonly present: readonly PromptMemory[] },
  shares: Float64Array,
  counts: (index: number) => boolean,
  { elapsedSeconds, intervalSeconds }: { readonly elapsedSeconds: number; readonly intervalSeconds: number },
): PromptPace {
  const kept = Math.exp(-elapsedSeconds / Math.max(MEMORY_SECONDS, MEMORY_RUNS * intervalSeconds));
  let tokens = pace.tokens * kept;
  let seconds = pace.seconds * kept;
  for (let index = 0; index < shares.length; index++) {
    const { sample: past, sampledAtMs } = at(memories.past, index);
    const present = at(memories.present, index);
    const { sample } = present;
    if (!counts(index) || past?.prompts === undefined || sample?.prompts === undefined) continue;
    const between = (present.sampledAtMs - sampledAtMs) / 1000;
    const answered = sample.prompts.answeredTokens - past.prompts.answeredTokens;
    tokens += Math.max(0, Math.min(answered, MOST_PER_SECOND * between));
    if ((present.prompts?.tokens ?? 0) > 0) seconds += at(shares, index) * between;
  }
  return { tokens, seconds };
}

/**
 * How much of the time until the next weights a backend has left beside the prompts that it has. A long prompt keeps
 * all that come after it waiting until it is computed, though nothing else may be heavy there.
 * @returns undefined: it has none, its engine does not tell, or it is not known yet how fast prompts are computed
 */
export function promptBasisOf(
  backlog: PromptBacklog | undefined,
  share: number,
  pace: PromptPace,
  intervalSeconds: number,
): PromptBasis | undefined {
  if (backlog === undefined || backlog.tokens === 0 || pace.seconds < SECONDS_NEEDED) return undefined;
  const { tokens } = backlog;
  const tokensPerSecond = (share * pace.tokens) / pace.seconds;
  // nothing answered for so long: endless
  const seconds =
    tokensPerSecond === 0 ? LONGEST_SECONDS : Math.min(LONGEST_SECONDS, tokens / tokensPerSecond);
  return { tokens, tokensPerSecond, seconds, free: Math.max(LEAST_FREE, 1 - seconds / intervalSeconds) };
}

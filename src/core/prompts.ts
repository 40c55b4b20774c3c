import { at } from './at.ts';
import type { PromptBasis } from './model/basis.ts';
import type { Sample } from './model/collection.ts';

/** Prompts that a backend has taken in and not answered yet. Whoever comes later waits for them. */
export interface PromptBacklog {
  /** What is left to compute of them. */
  readonly tokens: number;
  /** What is computed of them already, by the time that they are there. */
  readonly computed: number;
  /** What the two counters differ by when there are none: prompts that were cancelled stay in it. */
  readonly settled: number;
}

/** What is remembered of a backend for it. */
export interface PromptMemory {
  readonly sample: Sample | undefined;
  readonly sampledAtMs: number;
  /** Of that sample; undefined: the engine does not tell. */
  readonly prompts: PromptBacklog | undefined;
}

/** How fast all backends compute prompts, and how many are never answered, by sums that fade together. */
export interface PromptPace {
  /** Of prompts that were answered. */
  readonly tokens: number;
  /** For how long backends had any, per unit of configured share. */
  readonly seconds: number;
  /** Tokens that were taken in less those that were answered: what is cancelled before its first token stays in it. */
  readonly unanswered: number;
}

export const NO_PACE: PromptPace = { tokens: 0, seconds: 0, unanswered: 0 };

/**
 * A backlog of more is none: many versions of vLLM count a prompt anew with every step that finds no KV cache for it,
 * and with every preemption. Where the next weights take longer, any backlog is over before.
 */
const LONGEST_SECONDS = 2;
/** So much of the group's pace a backend has at least: a backlog that nobody answers, as it is none, ends with that. */
const LEAST_PACE = 0.5;
/** So fast the difference that is left of a backlog counts as settled: a busy engine seldom shows none. */
const SETTLING_SECONDS = 30;
const MEMORY_SECONDS = 60;
const MEMORY_RUNS = 6;
/** Of backlog, before a pace is believed. */
const SECONDS_NEEDED = 5;
/** No engine computes more tokens: keeps the sums finite, whatever a page says. */
const MOST_PER_SECOND = 10_000_000;
/** Where more of the tokens are never answered, a backlog tells too little. */
const MOST_UNANSWERED = 0.2;
/** A backend keeps at least this part of its weight. */
const LEAST_FREE = 0.1;

/**
 * @param tokensPerSecond of this backend, by {@link tokensPerSecondOf}
 * @returns undefined: the engine does not tell, as one whose prefix cache is off
 */
export function observeBacklog(
  { sample: past, prompts: before }: Pick<PromptMemory, 'sample' | 'prompts'>,
  sample: Sample,
  tokensPerSecond: number | undefined,
  elapsedSeconds: number,
): PromptBacklog | undefined {
  if (sample.prompts === undefined || sample.prompts.takenInTokens === 0) return undefined;
  const difference = sample.prompts.takenInTokens - sample.prompts.answeredTokens;
  const none = { tokens: 0, computed: 0, settled: difference };
  const answered = answeredBetween(past, sample);
  const isIdle = (sample.queued ?? 0) + (sample.running ?? 0) === 0;
  if (before === undefined || answered < 0 || isIdle) return none;
  const kept = Math.exp(-elapsedSeconds / SETTLING_SECONDS);
  const backlog = kept * (difference - before.settled);
  if (!(backlog > 0) || backlog > LONGEST_SECONDS * (tokensPerSecond ?? Infinity)) return none;
  const least = before.tokens > 0 ? LEAST_PACE * (tokensPerSecond ?? 0) * elapsedSeconds : 0;
  const computed = Math.max(0, before.computed + least - answered);
  if (computed >= backlog) return none;
  return { tokens: backlog - computed, computed, settled: difference - backlog };
}

/** Tokens of the prompts that were answered; below 0: the engine has restarted. */
function answeredBetween(past: Sample | undefined, { prompts }: Sample): number {
  return (prompts?.answeredTokens ?? 0) - (past?.prompts?.answeredTokens ?? 0);
}

function takenInBetween(past: Sample | undefined, { prompts }: Sample): number {
  return (prompts?.takenInTokens ?? 0) - (past?.prompts?.takenInTokens ?? 0);
}

/** Tokens per second of a backend with that configured share; undefined: not known yet. */
export function tokensPerSecondOf({ tokens, seconds }: PromptPace, share: number): number | undefined {
  const tokensPerSecond = (share * tokens) / seconds;
  return seconds < SECONDS_NEEDED || !(tokensPerSecond > 0) ? undefined : tokensPerSecond;
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
  let unanswered = pace.unanswered * kept;
  for (let index = 0; index < shares.length; index++) {
    const past = at(memories.past, index);
    const { sample, sampledAtMs, prompts } = at(memories.present, index);
    if (!counts(index) || past.prompts === undefined || prompts === undefined || sample === undefined)
      continue;
    const between = (sampledAtMs - past.sampledAtMs) / 1000;
    const most = MOST_PER_SECOND * between;
    const answered = answeredBetween(past.sample, sample);
    const takenIn = takenInBetween(past.sample, sample);
    tokens += Math.min(Math.max(0, answered), most);
    if (prompts.tokens > 0) seconds += at(shares, index) * between;
    // a leap is of prompts that are tried again and again, or of a long one and, later, of its answer
    const leap = LONGEST_SECONDS * (tokensPerSecondOf(pace, at(shares, index)) ?? 0);
    if (takenIn < 0 || answered < 0 || answered > most || Math.abs(takenIn - answered) > leap) continue;
    unanswered += takenIn - answered;
  }
  return { tokens, seconds, unanswered };
}

/** Whether so many of the group's prompts are answered that a backlog tells how long it lasts. */
export function areMostlyAnswered({ tokens, unanswered }: PromptPace): boolean {
  return unanswered <= MOST_UNANSWERED * (tokens + unanswered);
}

/**
 * How much of the time until the next weights a backend has left beside the prompts that it has. A long prompt keeps
 * all that come after it waiting until it is computed, though nothing else may be heavy there.
 * @param lagSeconds how old the page is already when it is read
 * @returns undefined: it has none, its engine does not tell, it is not known yet how fast prompts are computed, or they
 *   are over before the next weights
 */
export function promptBasisOf(
  backlog: PromptBacklog | undefined,
  tokensPerSecond: number | undefined,
  intervalSeconds: number,
  lagSeconds: number,
): PromptBasis | undefined {
  const { tokens } = backlog ?? { tokens: 0 };
  if (tokens === 0 || tokensPerSecond === undefined) return undefined;
  if (intervalSeconds + lagSeconds > LONGEST_SECONDS) return undefined;
  const seconds = tokens / tokensPerSecond;
  return { tokens, tokensPerSecond, seconds, free: Math.max(LEAST_FREE, 1 - seconds / intervalSeconds) };
}

import type { Lengths } from './completion-request.ts';
import { createRandom, type Random } from './random.ts';

/** One request of an open-loop load: it is sent at its time, whatever became of those before it. */
export interface Arrival extends Lengths {
  /** Milliseconds after the start of the load. */
  readonly atMs: number;
}

/** Lognormal with this median, cut off at `most`. */
export interface LengthDistribution {
  readonly median: number;
  /** Standard deviation of the logarithm. */
  readonly sigma: number;
  readonly most: number;
}

export interface Mix {
  readonly prompt: LengthDistribution;
  readonly output: LengthDistribution;
  /** Share of requests with a long context, 0..1. */
  readonly longShare: number;
  readonly longPrompt: LengthDistribution;
}

/** Chat with a few long contexts, scaled to {@link DEFAULT_ENGINE}. */
export const CHAT: Mix = {
  prompt: { median: 200, sigma: 0.8, most: 2000 },
  output: { median: 110, sigma: 0.5, most: 300 },
  longShare: 0.02,
  longPrompt: { median: 2500, sigma: 0.3, most: 5000 },
};

export interface LoadPlan {
  readonly seed: number;
  /** Mean arrivals per second; they form a Poisson process. */
  readonly ratePerSecond: number;
  readonly seconds: number;
  readonly mix?: Mix;
}

/** The arrivals of a plan, in order of time. Equal plans give equal arrivals. */
export function planArrivals(plan: LoadPlan): readonly Arrival[] {
  const times = createRandom(plan.seed);
  const lengths = createRandom(plan.seed ^ 0x5eed);
  const arrivals: Arrival[] = [];
  let atMs = 0;
  for (;;) {
    atMs += (times.exponential() / plan.ratePerSecond) * 1000;
    if (atMs >= plan.seconds * 1000) return arrivals;
    arrivals.push({ atMs, ...drawLengths(plan.mix ?? CHAT, lengths) });
  }
}

export function drawLengths(mix: Mix, random: Random): Lengths {
  const long = random.uniform() < mix.longShare;
  return {
    promptTokens: draw(long ? mix.longPrompt : mix.prompt, random),
    outputTokens: draw(mix.output, random),
  };
}

function draw({ median, sigma, most }: LengthDistribution, random: Random): number {
  return Math.min(most, Math.max(1, Math.round(median * Math.exp(sigma * random.normal()))));
}

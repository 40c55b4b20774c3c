import { createRandom, type Random } from '../../../src/demo/random.ts';
import { ascending, sumOf } from './statistics.ts';

/** What 95 of 100 resamples give. A bound may be infinite: a ratio to nothing. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface Estimate {
  readonly value: number;
  /** Absent: too few seeds or blocks to tell. */
  readonly interval?: Interval;
}

const RESAMPLES = 1_000;
const TAIL = 0.025;
/** Equal cells give equal intervals. */
const RANDOM_SEED = 20_113;
/** Resamples of fewer than these are so alike that their interval would be too narrow. */
const FEWEST = { seeds: 2, blocks: 10 } as const;

/**
 * The interval of a figure by a bootstrap in two stages. Requests near in time have their fate in common, so blocks of
 * time are drawn and not requests; blocks of one seed have the same long requests and queues in common, so seeds are
 * drawn first, then as many blocks of each as it has, both with replacement. Arms that are compared are one figure of
 * the same draws: that pairs them.
 * @param seeds how many blocks each has
 * @param figure of how often each block was drawn, those of the first seed first
 */
export function bootstrap(seeds: readonly number[], figure: (times: readonly number[]) => number): Estimate {
  const blocks = sumOf(seeds);
  const value = figure(Array.from({ length: blocks }, () => 1));
  if (seeds.length < FEWEST.seeds || blocks < FEWEST.blocks) return { value };
  const random = createRandom(RANDOM_SEED);
  const figures = Array.from({ length: RESAMPLES }, () => figure(draw(seeds, random)))
    .filter((drawn) => !Number.isNaN(drawn))
    .toSorted(ascending);
  const at = (q: number): number => figures[Math.max(0, Math.ceil(q * figures.length) - 1)]!;
  return figures.length === 0 ? { value } : { value, interval: { low: at(TAIL), high: at(1 - TAIL) } };
}

function draw(seeds: readonly number[], random: Random): readonly number[] {
  const times = Array.from({ length: sumOf(seeds) }, () => 0);
  const firstBlocks = seeds.map((_, seed) => sumOf(seeds.slice(0, seed)));
  for (let count = 0; count < seeds.length; count++) {
    const seed = Math.floor(random.uniform() * seeds.length);
    for (let block = 0; block < seeds[seed]!; block++)
      times[firstBlocks[seed]! + Math.floor(random.uniform() * seeds[seed]!)]!++;
  }
  return times;
}

import { createRandom } from '../../../src/demo/random.ts';
import { ascending } from './statistics.ts';

/** A figure and what 95 of 100 resamples of the blocks give. A bound may be infinite: a ratio to nothing. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 1_000;
const TAIL = 0.025;
/** Equal cells give equal intervals. */
const SEED = 20_113;

/**
 * The interval of a figure by block bootstrap: requests near in time have their fate in common, so blocks of time are
 * drawn with replacement and not requests. Arms that are compared are one figure of the same draws: that pairs them.
 * @param blocks how many there are
 * @param figure of how often each block was drawn
 */
export function bootstrap(blocks: number, figure: (times: readonly number[]) => number): Estimate {
  const random = createRandom(SEED);
  const drawn = Array.from({ length: RESAMPLES }, () => {
    const times = Array.from({ length: blocks }, () => 0);
    for (let draw = 0; draw < blocks; draw++) times[Math.floor(random.uniform() * blocks)]!++;
    return figure(times);
  });
  const sorted = drawn.filter((value) => !Number.isNaN(value)).toSorted(ascending);
  const at = (q: number): number => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
  return { value: figure(Array.from({ length: blocks }, () => 1)), low: at(TAIL), high: at(1 - TAIL) };
}

import { at } from './at.ts';
import type { Speeds } from './speed.ts';

const LEAST = 0.2;
const MOST = 3;
/** Makes two replicas forget a difference, with a time constant of ten times the learning one. */
const LEAK = 0.1;
/** As far as a residual rises where no counter tells whether the backend serves what it is given. */
export const MOST_UNCOUNTED = 1.5;

/** Learned capacities, in roster order. */
export interface Capacities {
  /** What the load says beside the speed: remembered. */
  readonly residuals: Float64Array;
  readonly speeds: Speeds;
  /** The weight's factor: residual times speed over the mean, 0.2..3. */
  readonly products: Float64Array;
}

/** The residual times the speed, which follows from counters at once, where the load would take many minutes to show it. */
export function capacitiesOf(residuals: Float64Array, speeds: Speeds, shares: Float64Array): Capacities {
  const products = residuals.map((residual, index) => residual * at(speeds.values, index));
  return { residuals, speeds, products: overMean(products, shares) };
}

/**
 * Learns what the load says again and again: that a backend copes with more or less than its configured weight.
 * @param residuals in roster order; those of configured weight 0 stand and are in no mean
 * @param stepSeconds for how much time this run counts; at most an interval
 * @param learns whether this backend's deviation is of a fresh sample and answers to the weight that was published
 * @param trusts how far its gauges are believed, 0..1; what was learned upward from others is forgotten
 * @param isCounted whether a counter tells what it takes
 */
export function learnResiduals(
  residuals: Float64Array,
  deviations: Float64Array,
  shares: Float64Array,
  learns: (index: number) => boolean,
  { stepSeconds, intervalSeconds }: { readonly stepSeconds: number; readonly intervalSeconds: number },
  trusts: Float64Array,
  isCounted: (index: number) => boolean,
): Float64Array {
  const rate = stepSeconds / Math.max(120, 10 * intervalSeconds);
  let learnsAny = false;
  const learned = residuals.map((residual, index) => {
    if (!learns(index)) return residual;
    learnsAny = true;
    const deviation = teachable(at(deviations, index));
    const log = Math.log(residual);
    const forgotten = LEAK * log + (1 - at(trusts, index)) * Math.max(0, log);
    return residual * Math.exp(rate * (deviation - forgotten));
  });
  if (!learnsAny) return residuals;
  const result = overMean(learned, shares);
  for (let index = 0; index < result.length; index++) {
    const isLimited = at(result, index) > MOST_UNCOUNTED && learns(index) && !isCounted(index);
    if (isLimited) result[index] = MOST_UNCOUNTED;
  }
  return result;
}

/** What counts of a deviation: a backend that is far off is its own affair, and must not shift what others are compared with. */
export function teachable(deviation: number): number {
  return Math.min(1, Math.max(-1, deviation));
}

function overMean(capacities: Float64Array, shares: Float64Array): Float64Array {
  const mean = meanOfActive(capacities, shares);
  return capacities.map((capacity, index) =>
    at(shares, index) === 0 ? capacity : Math.min(MOST, Math.max(LEAST, capacity / mean)),
  );
}

/** Over those that take traffic. */
export function meanOfActive(capacities: Float64Array, shares: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (let index = 0; index < capacities.length; index++) {
    if (at(shares, index) === 0) continue;
    sum += at(capacities, index);
    count++;
  }
  return sum / count;
}

import { at } from './at.ts';

const LEAST = 0.2;
const MOST = 3;
/** Makes two replicas forget a difference, with a time constant of ten times the learning one. */
const LEAK = 0.1;

/**
 * Learns what the load says again and again: that a backend copes with more or less than its configured weight.
 * @param capacities in roster order; those of configured weight 0 stand and are in no mean
 * @param learns whether this backend's deviation is of a fresh sample and answers to the weight that was published
 */
export function learnCapacities(
  capacities: Float64Array,
  deviations: Float64Array,
  shares: Float64Array,
  learns: (index: number) => boolean,
  intervalSeconds: number,
): Float64Array {
  const rate = intervalSeconds / Math.max(120, 10 * intervalSeconds);
  const learned = capacities.map((capacity, index) => {
    if (!learns(index)) return capacity;
    const step = Math.min(1, Math.max(-1, at(deviations, index))) - LEAK * Math.log(capacity);
    return capacity * Math.exp(rate * step);
  });
  const mean = meanOfActive(learned, shares);
  return learned.map((capacity, index) =>
    at(shares, index) === 0 ? capacity : Math.min(MOST, Math.max(LEAST, capacity / mean)),
  );
}

function meanOfActive(capacities: Float64Array, shares: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (let index = 0; index < capacities.length; index++) {
    if (at(shares, index) === 0) continue;
    sum += at(capacities, index);
    count++;
  }
  return sum / count;
}

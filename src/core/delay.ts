/** The delay without sidecars, and the least that is ever assumed, s. */
export const LEAST_DELAY_SECONDS = 0.1;
const WEIGHT_OF_LATEST = 0.2;

/**
 * d of the rule, s: moving average of the time from the start of a collection to the first acknowledgement of what was
 * published because of it; at least 0.1.
 */
export function observeDelay(previousSeconds: number, observedSeconds: number): number {
  const average = previousSeconds + WEIGHT_OF_LATEST * (observedSeconds - previousSeconds);
  return Math.max(LEAST_DELAY_SECONDS, average);
}

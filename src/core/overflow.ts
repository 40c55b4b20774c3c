/**
 * How far the traffic of a zone goes beyond its own backends. 0: it stays; 1: it goes wherever plain balancing would
 * send it. A proportional and an integral part answer to how much busier the zone is than the whole group.
 */

/** A zone may be so much busier than the group before its traffic goes elsewhere, in units of the deviation. */
export const ZONE_MARGIN = 0.1;
/** So much always goes elsewhere, so that no way is untried when it is needed. */
export const LEAST_OVERFLOW = 0.01;

/** Of what the age of the gauges would allow: the weights answer to the same difference. */
const TRUST = 0.3;
const MOST_GAIN = 1;
/** What went elsewhere comes home as much faster, so that a zone that is as busy as the others is soon by itself again. */
const HOMEWARD = 3;

export interface OverflowTimes {
  /** Since the previous evaluation. */
  readonly elapsedSeconds: number;
  /** T of the rule. */
  readonly intervalSeconds: number;
  /** d of the rule, and how much older than the answers the gauges are. */
  readonly delaySeconds: number;
  /** R of the rule. */
  readonly staySeconds: number;
}

/** What one difference of load moves at once, 0..1: less the older the gauges are over a request's stay. */
export function overflowGain({ intervalSeconds, delaySeconds, staySeconds }: OverflowTimes): number {
  return Math.min(MOST_GAIN, (TRUST * staySeconds) / (intervalSeconds + delaySeconds));
}

/**
 * The integral part one evaluation later, 0..1. What a request brings is seen until it has ended, so that its stay is the
 * time in which a difference adds up to what the proportional part makes of it at once.
 * @param excess how much busier than the group the zone is
 */
export function nextIntegral(integral: number, excess: number, times: OverflowTimes): number {
  const { elapsedSeconds, intervalSeconds, delaySeconds, staySeconds } = times;
  const beyond = excess - ZONE_MARGIN;
  const seconds = Math.min(elapsedSeconds, 2 * intervalSeconds);
  const part = seconds / Math.max(staySeconds, intervalSeconds + delaySeconds);
  return within01(integral + overflowGain(times) * part * (beyond < 0 ? HOMEWARD * beyond : beyond));
}

/**
 * @param asked what the load asks for, proportional and integral part together
 * @param available the part of what the zone is configured for that takes requests now, 0..1: the rest goes elsewhere
 *   whatever the load says
 * @returns {@link LEAST_OVERFLOW}..1
 */
export function overflowOf(asked: number, available: number): number {
  return Math.max(LEAST_OVERFLOW, 1 - available * (1 - within01(asked)));
}

/**
 * What the weights of other zones are multiplied by, so that of the requests that plain balancing would send there the
 * part `overflow` goes there.
 * @param home sum of the weights of the zone's own backends that take requests
 * @param away the same of all others
 * @param bias how strongly a sidecar weighs in its own requests: it evens weights out by so much
 * @returns above 0, at most 1
 */
export function awayFactor(overflow: number, home: number, away: number, bias: number): number {
  if (overflow >= 1 || home === 0 || away === 0) return 1;
  return ((overflow * home) / (home + away - overflow * away)) ** bias;
}

function within01(value: number): number {
  return Math.min(1, Math.max(0, value));
}

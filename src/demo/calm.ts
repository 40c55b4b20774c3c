import { type Clock, sleep } from '../runtime/clock.ts';

/** Envoy has taken what was published by then. */
const CALM_MS = 1000;
const LOOK_MS = 250;

export interface CalmOptions {
  readonly clock: Clock;
  /** p, the share that sidecars are told to refuse, 0..1; undefined: it is not known. */
  readonly share: () => Promise<number | undefined>;
  /** Seconds that it waits at most. */
  readonly mostSeconds: number;
  /** Gives up. */
  readonly signal: AbortSignal;
}

/**
 * Waits until no share of the requests has been refused for a second.
 * @returns p at the end: 0, or when that took too long what it was then, NaN if it is not known
 */
export async function untilNothingIsRefused(options: CalmOptions): Promise<number> {
  const { clock, share, mostSeconds, signal } = options;
  const deadlineMs = clock.now() + mostSeconds * 1000;
  let calmSinceMs: number | undefined;
  for (;;) {
    const p = await share();
    const nowMs = clock.now();
    calmSinceMs = p === 0 ? (calmSinceMs ?? nowMs) : undefined;
    const isCalm = calmSinceMs !== undefined && nowMs - calmSinceMs >= CALM_MS;
    if (isCalm || nowMs >= deadlineMs || signal.aborted) return p ?? Number.NaN;
    await sleep(clock, LOOK_MS, signal);
  }
}

import { setTimeout as delay } from 'node:timers/promises';

/**
 * Pauses between two probes: the longer it has taken, the longer, so that what takes seconds is not asked for so often
 * that the asking, a page of Envoy or of the control plane each time, takes a processor from it.
 */
const PAUSES_MS = [10, 50] as const;
/** Of the time that it has taken. */
const PAUSE_SHARE = 0.05;

/**
 * Resolves with the first value of `probe` that is neither undefined nor false.
 * @throws when none comes within `timeoutMs`; the message names `what` and the last error of `probe`.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 10_000,
): Promise<T> {
  const [least, most] = PAUSES_MS;
  const started = performance.now();
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    const taken = performance.now() - started;
    if (taken > timeoutMs) throw new Error(`${what}: not within ${timeoutMs} ms`, { cause: last });
    await delay(Math.min(most, Math.max(least, PAUSE_SHARE * taken)));
  }
}

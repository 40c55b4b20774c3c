import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves with the first value of `probe` that is neither undefined nor false.
 * @throws when none comes within `timeoutMs`; the message names `what` and the last error of `probe`.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`${what}: not within ${timeoutMs} ms`, { cause: last });
    }
    await delay(10);
  }
}

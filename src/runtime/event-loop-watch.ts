import type { Clock } from './clock.ts';

const INTERVAL_MS = 100;

/**
 * Looks every 100 ms how much later than it was due the event loop comes to a timer: what is late by that, everything
 * else in the process is.
 * @param report is given that time in milliseconds, at least 0
 * @returns ends it
 */
export function watchEventLoop(clock: Clock, report: (lateMs: number) => void): () => void {
  let cancel: () => void;
  const look = (): void => {
    const dueMs = clock.now() + INTERVAL_MS;
    cancel = clock.schedule(INTERVAL_MS, () => {
      report(Math.max(0, clock.now() - dueMs));
      look();
    });
  };
  look();
  return () => {
    cancel();
  };
}

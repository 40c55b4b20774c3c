import type { Clock } from './clock.ts';

/** Runs it again and again, so many milliseconds apart. @returns ends it */
export function every(clock: Clock, intervalMs: number, run: () => void): () => void {
  let cancel: () => void;
  const next = (): void => {
    cancel = clock.schedule(intervalMs, () => {
      next();
      run();
    });
  };
  next();
  return () => {
    cancel();
  };
}

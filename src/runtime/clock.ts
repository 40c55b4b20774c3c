/** Monotonic time and sleeping, so that a fake clock can drive every loop in tests. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /**
   * Calls `callback` once after `milliseconds` (at least 0).
   * @returns cancels the call; harmless when it has already been made.
   */
  schedule(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Wall-clock time, Unix milliseconds: for what the world outside has dated. It may jump. */
export function unixMs(): number {
  return Date.now();
}

/** A time that the world outside has dated (RFC 3339), as Unix milliseconds; undefined: it is none. */
export function unixMsOf(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

/** Resolves after `milliseconds`, or at once when `signal` aborts: `true` when the time has passed, `false` when aborted. */
export function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve(false);
      return;
    }
    const onAbort = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = clock.schedule(milliseconds, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve(true);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

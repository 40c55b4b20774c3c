/** How long what a backend last said may stand, s: max(30 s, 5 intervals). */
export function standingSeconds(intervalSeconds: number): number {
  return Math.max(30, 5 * intervalSeconds);
}

/** Whether something of this age says nothing any more. */
export function isOutdated(ageMs: number, intervalSeconds: number): boolean {
  return ageMs > standingSeconds(intervalSeconds) * 1000;
}

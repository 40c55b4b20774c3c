/*
 * Runs come once per interval, and sooner where membership or settings changed. What one of them may teach, or say of a
 * backend that is silent in it, goes by the time since the run before, not by how many runs there are.
 */

/** No timer is exact: from this part of an interval on it counts as one. */
const NEARLY = 0.75;

/** Whether about an interval, or more, lies between the starts of two runs. */
export function isIntervalApart(seconds: number, intervalSeconds: number): boolean {
  return seconds >= NEARLY * intervalSeconds;
}

/**
 * For how much time a run counts, s: for an interval, however long there was none; for less where it came early.
 * @param seconds between its start and that of the run before; undefined: it is the first
 */
export function stepSeconds(seconds: number | undefined, intervalSeconds: number): number {
  return seconds === undefined || isIntervalApart(seconds, intervalSeconds) ? intervalSeconds : seconds;
}

/** A value at a time, in seconds. */
export interface Point {
  readonly seconds: number;
  readonly value: number;
}

/** A straight line through points by least squares. */
export interface Line {
  /** Of the value, per second. */
  readonly slope: number;
  /** Of the slope: two of them on either side hold it in 95 of 100 cases, if the points scatter evenly. NaN: under 3 points. */
  readonly standardError: number;
  readonly points: number;
}

/** undefined: there are fewer than two times. */
export function leastSquares(points: readonly Point[]): Line | undefined {
  const count = points.length;
  const meanSeconds = points.reduce((sum, { seconds }) => sum + seconds, 0) / count;
  const meanValue = points.reduce((sum, { value }) => sum + value, 0) / count;
  let spread = 0;
  let together = 0;
  for (const { seconds, value } of points) {
    spread += (seconds - meanSeconds) ** 2;
    together += (seconds - meanSeconds) * (value - meanValue);
  }
  if (count < 2 || spread === 0) return undefined;
  const slope = together / spread;
  const rest = points.reduce(
    (sum, { seconds, value }) => sum + (value - meanValue - slope * (seconds - meanSeconds)) ** 2,
    0,
  );
  const standardError = count < 3 ? Number.NaN : Math.sqrt(rest / (count - 2) / spread);
  return { slope, standardError, points: count };
}

/**
 * One point for each window of `windowSeconds`, at the mean time of those in it, with what `pick` makes of their values.
 * A saw-tooth, as garbage makes it, has no part in the least or the middle of a window. The last window counts only when it
 * is at least half full.
 */
export function byWindow(
  points: readonly Point[],
  windowSeconds: number,
  pick: (values: readonly number[]) => number,
): readonly Point[] {
  const [first] = points;
  if (first === undefined) return [];
  const windows = new Map<number, Point[]>();
  for (const point of points) {
    const index = Math.floor((point.seconds - first.seconds) / windowSeconds);
    const inside = windows.get(index);
    if (inside === undefined) windows.set(index, [point]);
    else inside.push(point);
  }
  const last = points.at(-1)!.seconds - first.seconds;
  return [...windows]
    .filter(([index]) => (index + 0.5) * windowSeconds <= last)
    .map(([, inside]) => ({
      seconds: inside.reduce((sum, { seconds }) => sum + seconds, 0) / inside.length,
      value: pick(inside.map(({ value }) => value)),
    }));
}

/** NaN for none. */
export function least(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : Math.min(...values);
}

/** NaN for none. */
export function middle(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const half = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[half]!;
  return (sorted[half - 1]! + sorted[half]!) / 2;
}

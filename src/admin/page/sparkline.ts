/** A box in pixels, and the value at its top. */
export interface SparkBox {
  readonly width: number;
  readonly height: number;
  readonly most: number;
  /** How many points the width stands for; fewer are drawn from the right. */
  readonly points: number;
}

/** The `d` of an SVG path through the values, oldest first, with a gap where one is not known. */
export function sparkPath(values: readonly (number | null)[], box: SparkBox): string {
  const { width, height, most, points } = box;
  const offset = points - values.length;
  const step = points > 1 ? width / (points - 1) : 0;
  let path = '';
  let drawing = false;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      drawing = false;
      continue;
    }
    const y = height - 1 - (most > 0 ? Math.min(1, value / most) : 0) * (height - 2);
    path += `${drawing ? 'L' : 'M'}${tenths((offset + index) * step)} ${tenths(y)}`;
    drawing = true;
  }
  return path;
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The largest of all that is known; 0: nothing is. */
export function largest(series: readonly (readonly (number | null)[])[]): number {
  let most = 0;
  for (const values of series) for (const value of values) most = Math.max(most, value ?? 0);
  return most;
}

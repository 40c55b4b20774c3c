/** Longer texts get no hint: names are shorter, and the distance takes the product of both lengths. */
const LENGTH_MAX = 256;

/** What may still be spent on hints, in pairs of letters that are compared; each candidate counts as one more. */
export interface Effort {
  left: number;
}

/**
 * The candidate that `text` most likely means, for a hint about a typo; undefined when none is close. Letter case does
 * not count, a third of the letters may differ.
 * @param effort goes down; when it is spent there is no hint, as looking at some candidates might give a wrong one
 */
export function nearest(
  text: string,
  candidates: Iterable<string>,
  effort: Effort = { left: Number.POSITIVE_INFINITY },
): string | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const limit = Math.max(1, Math.floor(Math.max(text.length, candidate.length) / 3));
    const isClose = Math.abs(text.length - candidate.length) <= limit;
    effort.left -= isClose ? 1 + text.length * candidate.length : 1;
    if (effort.left < 0) return undefined;
    if (!isClose) continue;
    const distance = editDistance(text.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let distance = Math.min(at(previous, j) + 1, at(row, j - 1) + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, at(beforePrevious, j - 2) + 1);
      }
      row.push(distance);
    }
    beforePrevious = previous;
    previous = row;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

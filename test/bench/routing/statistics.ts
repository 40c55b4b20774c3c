/** By nearest rank: the smallest value that at least the fraction `q` of the values does not exceed; NaN for none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted(ascending);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

/** NaN for none. */
export function mean(values: readonly number[]): number {
  return sumOf(values) / values.length;
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Of a whole population, not of a sample; NaN for none. */
export function standardDeviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}

/** `one` over `other`; 1 when both are 0: neither is better. */
export function ratioOf(one: number, other: number): number {
  return one === 0 && other === 0 ? 1 : one / other;
}

export function ascending(one: number, other: number): number {
  // Not the difference: two infinite values have none.
  return one < other ? -1 : Number(one > other);
}

/** The largest weight of a backend. */
const MAX = 100;
/** Beyond it the exact ratio of shares is not looked for. */
const MULTIPLE_MAX = 1_000_000;

/** An integer of at least 0, to be shared evenly among `among` (1 or more). */
export interface Share {
  readonly weight: number;
  readonly among: number;
}

/**
 * Weights 0..100 in the ratio of `totals`, each the sum of its shares. Integers up to 100 stay as they are; others keep
 * their ratios exactly where that is possible, else as nearly as integers allow. Above 0 stays above 0; when all are 0
 * they count as equal, as RFC 2782 has it.
 */
export function weightsOf(totals: readonly (readonly Share[])[]): readonly number[] {
  if (totals.every((shares) => shares.every(({ weight }) => weight === 0))) {
    return scaled(totals.map((shares) => shares.map(({ among }) => ({ weight: MAX, among }))));
  }
  return scaled(totals);
}

function scaled(totals: readonly (readonly Share[])[]): readonly number[] {
  const multiple = commonMultiple(totals.flat());
  const sums = totals.map((shares) =>
    shares.reduce((sum, { weight, among }) => sum + (weight * multiple) / among, 0),
  );
  if (multiple === 1 && sums.every((sum) => sum <= MAX)) return sums;
  const divisor = sums.every(Number.isSafeInteger) ? sums.reduce(greatestDivisor, 0) : 1;
  const largest = sums.reduce((most, sum) => Math.max(most, sum), 0) / divisor;
  const factor = largest <= MAX ? Math.floor(MAX / largest) : MAX / largest;
  return sums.map((sum) => (sum === 0 ? 0 : Math.max(1, Math.round((sum / divisor) * factor))));
}

/** What makes an integer of every share; with too many different ones what nearly does. */
function commonMultiple(shares: readonly Share[]): number {
  let multiple = 1;
  for (const { weight, among } of shares) {
    if ((weight * multiple) % among === 0) continue;
    multiple = (multiple / greatestDivisor(multiple, among)) * among;
    if (multiple > MULTIPLE_MAX) return MULTIPLE_MAX;
  }
  return multiple;
}

/** Of integers of at least 0; 0 is divided by all. */
function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

import { at } from './at.ts';
import type { BackendMemory } from './memory.ts';
import { progressOf } from './progress.ts';
import type { Published } from './publication.ts';
import type { Roster } from './roster.ts';

/** What tells how old the engines' gauges are. */
export interface Lag {
  /** L of the rule: how much older the gauges are than the answers that they came in, s. */
  readonly seconds: number;
  /** Newest first. */
  readonly history: readonly PublishedShares[];
  /** By lag, in intervals from 0 on. */
  readonly evidence: readonly Evidence[];
}

/** What sidecars were told by an evaluation. */
interface PublishedShares {
  readonly atMs: number;
  /** In roster order; 0: no traffic. */
  readonly shares: Float64Array;
}

/** Sums that fade as newer come in, over what came in a run and the shares that were published so much earlier. */
interface Evidence {
  /** How far requests came as the shares say: {@link expected} if exactly so. */
  readonly agreement: number;
  /** Also the variance that chance alone gives the agreement. */
  readonly expected: number;
}

export const INITIAL_LAG: Lag = { seconds: 0, history: [], evidence: [] };

const NOTHING: Evidence = { agreement: 0, expected: 0 };
const MOST_SECONDS = 8;
const MOST_INTERVALS = 16;
/** Evidence fades as newer comes, not with time: a gain that a lag has lowered brings little of it. */
const MEMORY_EXPECTED = 200;
/** However much a run brings, the evidence is of so many. */
const LEAST_RUNS = 10;
/** Of what shares make expect: less may be sidecars that take no notice of them. */
const LEAST_AGREEMENT = 0.3;

export interface LagObservation {
  readonly past: readonly BackendMemory[];
  readonly present: readonly BackendMemory[];
  /** Whether this backend takes traffic and has a fresh sample, and is not frozen. */
  readonly counts: (index: number) => boolean;
  readonly nowMs: number;
  readonly elapsedSeconds: number;
  readonly intervalSeconds: number;
}

/**
 * Compares what came between the last two samples with the shares that were published before, and with those of earlier
 * evaluations. Gauges and counters that are old show the requests that older shares sent.
 */
export function observeLag(before: Lag, observed: LagObservation): Lag {
  const { elapsedSeconds, intervalSeconds, nowMs } = observed;
  const arrivals = arrivalsOf(observed);
  const evidence = Array.from({ length: lagsOf(intervalSeconds) }, (_, lag) => {
    const { agreement, expected } = before.evidence[lag] ?? NOTHING;
    const sharesFromMs = nowMs - 1000 * (elapsedSeconds + lag * intervalSeconds);
    const shares = sharesAt(before.history, sharesFromMs, intervalSeconds);
    const added = shares === undefined ? NOTHING : compare(arrivals, shares);
    const kept = Math.exp(-Math.min(added.expected / MEMORY_EXPECTED, 1 / LEAST_RUNS));
    return { agreement: kept * agreement + added.agreement, expected: kept * expected + added.expected };
  });
  return { seconds: lagIn(evidence) * intervalSeconds, history: before.history, evidence };
}

/** @param published what sidecars have after this evaluation */
export function rememberShares(
  lag: Lag,
  published: Published,
  { indexes, backends }: Roster,
  { nowMs, intervalSeconds }: Pick<LagObservation, 'nowMs' | 'intervalSeconds'>,
): Lag {
  const shares = new Float64Array(backends.length);
  for (const [position, { id }] of published.backends.entries()) {
    const index = indexes.get(id);
    if (index !== undefined && at(published.health, position) === 'HEALTHY')
      shares[index] = at(published.weights, position);
  }
  return { ...lag, history: [{ atMs: nowMs, shares }, ...lag.history].slice(0, lagsOf(intervalSeconds)) };
}

/** How many lags are looked at: none but 0 where an interval is longer than the most. */
function lagsOf(intervalSeconds: number): number {
  return 1 + Math.min(MOST_INTERVALS, Math.floor(MOST_SECONDS / intervalSeconds));
}

/** In intervals: the one that agrees best, if it does so by more than chance. */
function lagIn(evidence: readonly Evidence[]): number {
  const [now = NOTHING] = evidence;
  let best = 0;
  for (const [lag, { agreement, expected }] of evidence.entries()) {
    const byChance = Math.sqrt(expected + now.expected);
    const tells = agreement - now.agreement > byChance && agreement >= LEAST_AGREEMENT * expected;
    if (tells && agreement > (evidence[best] ?? NOTHING).agreement) best = lag;
  }
  return best;
}

/** In roster order; NaN: not known, or of more than one run. */
function arrivalsOf({ past, present, counts, intervalSeconds }: LagObservation): Float64Array {
  return Float64Array.from(present, (memory, index) => {
    if (!counts(index)) return Number.NaN;
    const progress = progressOf(at(past, index), memory, intervalSeconds);
    const isOfThisRun = progress !== undefined && progress.seconds < 1.5 * intervalSeconds;
    return isOfThisRun ? progress.arrived : Number.NaN;
  });
}

/** Those in force from about that time on. */
function sharesAt(
  history: readonly PublishedShares[],
  fromMs: number,
  intervalSeconds: number,
): Float64Array | undefined {
  return history.find(({ atMs }) => Math.abs(atMs - fromMs) < 500 * intervalSeconds)?.shares;
}

/** Among the backends whose arrivals are known. */
function compare(arrivals: Float64Array, shares: Float64Array): Evidence {
  let [known, came, sent] = [0, 0, 0];
  for (let index = 0; index < arrivals.length; index++) {
    if (Number.isNaN(at(arrivals, index))) continue;
    known++;
    came += at(arrivals, index);
    sent += at(shares, index);
  }
  if (came === 0 || sent === 0) return NOTHING;
  let [agreement, expected] = [0, 0];
  for (let index = 0; index < arrivals.length; index++) {
    if (Number.isNaN(at(arrivals, index))) continue;
    const more = (known * at(shares, index)) / sent - 1;
    agreement += more * (at(arrivals, index) - came / known);
    expected += more * more * (came / known);
  }
  return { agreement, expected };
}

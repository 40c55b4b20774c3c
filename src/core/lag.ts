import { at } from './at.ts';
import { isOfOneRun, type Progress } from './progress.ts';
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

/** In roster order. */
export interface SharesSeen {
  /** What sidecars were told by an evaluation; 0: no traffic. */
  readonly published: Float64Array;
  /** What those come from, before what is not worth publishing was left out: two replicas agree in these. */
  readonly computed: Float64Array;
}

interface PublishedShares extends SharesSeen {
  readonly atMs: number;
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
  /** In roster order. */
  readonly progresses: readonly (Progress | undefined)[];
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
    const shares = publishedAt(before.history, sharesFromMs, intervalSeconds)?.published;
    const added = shares === undefined ? NOTHING : compare(arrivals, shares);
    const kept = Math.exp(-Math.min(added.expected / MEMORY_EXPECTED, 1 / LEAST_RUNS));
    return { agreement: kept * agreement + added.agreement, expected: kept * expected + added.expected };
  });
  return { seconds: lagIn(evidence) * intervalSeconds, history: before.history, evidence };
}

/** Where sessions come by shares of long ago, gauges would look as old as those. */
export function withoutLag({ history }: Lag): Lag {
  return { ...INITIAL_LAG, history };
}

/**
 * @param published what sidecars have after this evaluation
 * @param weights what that comes from, in roster order; undefined: something else
 */
export function rememberShares(
  lag: Lag,
  published: Published,
  weights: Float64Array | undefined,
  { indexes, backends }: Roster,
  { nowMs, intervalSeconds }: Pick<LagObservation, 'nowMs' | 'intervalSeconds'>,
): Lag {
  const shares = new Float64Array(backends.length);
  for (const [position, { id }] of published.backends.entries()) {
    const index = indexes.get(id);
    if (index !== undefined && at(published.health, position) === 'HEALTHY')
      shares[index] = at(published.weights, position);
  }
  const newest = { atMs: nowMs, published: shares, computed: weights ?? shares };
  return { ...lag, history: [newest, ...lag.history].slice(0, lagsOf(intervalSeconds)) };
}

/** What sidecars had when the requests came that the samples of this evaluation show; undefined: not known. */
export function sharesSeen(
  { seconds, history }: Lag,
  {
    nowMs,
    elapsedSeconds,
    intervalSeconds,
  }: Pick<LagObservation, 'nowMs' | 'elapsedSeconds' | 'intervalSeconds'>,
): SharesSeen | undefined {
  return publishedAt(history, nowMs - 1000 * (elapsedSeconds + seconds), intervalSeconds);
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
function arrivalsOf({ progresses, counts, intervalSeconds }: LagObservation): Float64Array {
  const arrivals = new Float64Array(progresses.length).fill(Number.NaN);
  for (let index = 0; index < progresses.length; index++) {
    const progress = at(progresses, index);
    if (progress === undefined || !counts(index)) continue;
    if (isOfOneRun(progress, intervalSeconds)) arrivals[index] = progress.arrived;
  }
  return arrivals;
}

/** Those in force from about that time on. */
function publishedAt(
  history: readonly PublishedShares[],
  fromMs: number,
  intervalSeconds: number,
): PublishedShares | undefined {
  return history.find(({ atMs }) => Math.abs(atMs - fromMs) < 500 * intervalSeconds);
}

/** Among the backends whose arrivals are known. */
function compare(arrivals: Float64Array, shares: Float64Array): Evidence {
  let [known, came, sent, square, product] = [0, 0, 0, 0, 0];
  for (let index = 0; index < arrivals.length; index++) {
    const arrived = at(arrivals, index);
    if (Number.isNaN(arrived)) continue;
    const share = at(shares, index);
    known++;
    came += arrived;
    sent += share;
    square += share * share;
    product += share * arrived;
  }
  if (came === 0 || sent === 0) return NOTHING;
  // sums over (share / mean share - 1) times (arrived - mean arrived), and times itself times mean arrived
  const agreement = (known * product) / sent - came;
  const expected = Math.max(0, ((known * square) / sent / sent - 1) * came);
  return { agreement, expected };
}

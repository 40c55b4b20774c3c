import { at } from './at.ts';
import { isUsable } from './freshness.ts';
import { isMarked } from './health.ts';
import type { BackendMemory } from './memory.ts';
import type { SampleUse } from './model/decision.ts';
import type { Roster } from './roster.ts';

/** Requests per unit of configured weight (KV: 0..1), so that a server of twice the weight may hold twice as many. */
export interface Load {
  readonly queued: number;
  readonly kv: number;
  /** Queued and running. */
  readonly inside: number;
}

/** What the rule compares, per backend in roster order; NaN where no sample is used. */
export interface Loads {
  readonly queued: Float64Array;
  readonly kv: Float64Array;
  readonly inside: Float64Array;
  /** Over the backends with a usable sample; values put in for others are never in it. */
  readonly means: Load;
  /** What a longer queue of a saturated backend counts as in the means; undefined: none has one. */
  readonly mostQueued: number | undefined;
}

/** Which metrics every backend with a usable sample has. What one engine lacks is compared for none. */
export interface Metrics {
  readonly queued: boolean;
  readonly kv: boolean;
  readonly running: boolean;
}

export function commonMetrics(memories: readonly BackendMemory[], uses: readonly SampleUse[]): Metrics {
  const lacking = { queued: false, kv: false, running: false };
  for (let index = 0; index < memories.length; index++) {
    const { sample } = at(memories, index);
    if (sample === undefined || !isUsable(at(uses, index))) continue;
    if (sample.queued === undefined) lacking.queued = true;
    if (sample.kvUtilization === undefined) lacking.kv = true;
    if (sample.running === undefined) lacking.running = true;
  }
  return { queued: !lacking.queued, kv: !lacking.kv, running: !lacking.running };
}

/**
 * What a backend's gauges show below the mean counts as far as they are believed, and so do they in the mean. A metric
 * that a backend lacks is the mean of those that have it, so that nobody seems lighter for it; 0 when nobody
 * has it.
 * @param uses at least one is usable
 * @param trusts 0..1, in roster order
 */
export function loadsOf(
  { shares }: Roster,
  memories: readonly BackendMemory[],
  uses: readonly SampleUse[],
  trusts: Float64Array,
): Loads {
  const queued = new Float64Array(shares.length).fill(Number.NaN);
  const kv = new Float64Array(shares.length).fill(Number.NaN);
  const running = new Float64Array(shares.length).fill(Number.NaN);
  for (let index = 0; index < shares.length; index++) {
    const { sample } = at(memories, index);
    if (sample === undefined || !isUsable(at(uses, index))) continue;
    const share = at(shares, index);
    queued[index] = (sample.queued ?? Number.NaN) / share;
    kv[index] = sample.kvUtilization ?? Number.NaN;
    running[index] = (sample.running ?? Number.NaN) / share;
  }
  const parts = trusts.every((trust) => trust === 1)
    ? shares
    : shares.map((share, index) => share * at(trusts, index));
  const most = memories.some(isMarked) ? mostOf(queued) : Number.POSITIVE_INFINITY;
  const isLong = (waiting: number, index: number): boolean => waiting > most && isMarked(at(memories, index));
  const mostQueued = queued.some(isLong) ? most : undefined;
  const counted =
    mostQueued === undefined
      ? queued
      : queued.map((waiting, index) => (isLong(waiting, index) ? most : waiting));
  const means = { queued: meanOf(counted, parts), kv: meanOf(kv, parts), running: meanOf(running, parts) };
  for (let index = 0; index < shares.length; index++) {
    if (!isUsable(at(uses, index))) continue;
    const trust = at(trusts, index);
    queued[index] = believed(at(queued, index), means.queued, trust);
    kv[index] = believed(at(kv, index), means.kv, trust);
    running[index] = believed(at(running, index), means.running, trust);
  }
  const inside = queued.map((waiting, index) => waiting + at(running, index));
  const loads = {
    queued,
    kv,
    inside,
    means: { queued: means.queued, kv: means.kv, inside: means.queued + means.running },
    mostQueued,
  };
  putIn(loads, uses, 'mean', loads.means);
  putIn(loads, uses, 'worst', worstOf(loads, uses));
  return loads;
}

/**
 * One backend that is out and full must not make all others seem equally light: in the means the queue of a saturated one
 * counts as 4 and two medians at most. Of an even number the lower one of the two in the middle.
 */
function mostOf(queued: Float64Array): number {
  const known = queued.filter((waiting) => !Number.isNaN(waiting)).sort();
  return known.length === 0 ? 0 : 4 + 2 * at(known, (known.length - 1) >> 1);
}

function believed(value: number, mean: number, trust: number): number {
  if (Number.isNaN(value)) return mean;
  return trust === 1 || value >= mean ? value : mean + trust * (value - mean);
}

/** By configured weight and trust, over those that have a value. */
function meanOf(values: Float64Array, shares: Float64Array): number {
  let sum = 0;
  let total = 0;
  for (let index = 0; index < values.length; index++) {
    if (Number.isNaN(at(values, index))) continue;
    sum += at(shares, index) * at(values, index);
    total += at(shares, index);
  }
  return total === 0 ? 0 : sum / total;
}

/** The worst queue, KV and running requests of the fresh; of the samples that stand in when nobody else is fresh. */
function worstOf(loads: Loads, uses: readonly SampleUse[]): Load {
  const among: SampleUse = uses.includes('fresh') ? 'fresh' : 'last';
  let queued = 0;
  let kv = 0;
  let running = 0;
  for (let index = 0; index < uses.length; index++) {
    if (at(uses, index) !== among) continue;
    queued = Math.max(queued, at(loads.queued, index));
    kv = Math.max(kv, at(loads.kv, index));
    running = Math.max(running, at(loads.inside, index) - at(loads.queued, index));
  }
  return { queued, kv, inside: queued + running };
}

function putIn(loads: Loads, uses: readonly SampleUse[], where: SampleUse, load: Load): void {
  for (let index = 0; index < uses.length; index++) {
    if (at(uses, index) !== where) continue;
    loads.queued[index] = load.queued;
    loads.kv[index] = load.kv;
    loads.inside[index] = load.inside;
  }
}

import { at } from './at.ts';
import { isUsable } from './freshness.ts';
import type { BackendMemory } from './memory.ts';
import type { SampleUse } from './model.ts';
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
}

/** Which metrics every sampled backend of the group has. What one engine lacks is compared for none. */
export interface Metrics {
  readonly queued: boolean;
  readonly kv: boolean;
  readonly running: boolean;
}

export function commonMetrics(roster: Roster, memories: readonly BackendMemory[]): Metrics {
  const lacking = { queued: false, kv: false, running: false };
  for (let index = 0; index < memories.length; index++) {
    const { sample } = at(memories, index);
    if (sample === undefined || at(roster.shares, index) === 0) continue;
    if (sample.queued === undefined) lacking.queued = true;
    if (sample.kvUtilization === undefined) lacking.kv = true;
    if (sample.running === undefined) lacking.running = true;
  }
  return { queued: !lacking.queued, kv: !lacking.kv, running: !lacking.running };
}

/** @param uses at least one is usable */
export function loadsOf(
  { shares }: Roster,
  memories: readonly BackendMemory[],
  uses: readonly SampleUse[],
  metrics: Metrics,
): Loads {
  const queued = new Float64Array(shares.length).fill(Number.NaN);
  const kv = new Float64Array(shares.length).fill(Number.NaN);
  const inside = new Float64Array(shares.length).fill(Number.NaN);
  for (let index = 0; index < shares.length; index++) {
    const { sample } = at(memories, index);
    if (sample === undefined || !isUsable(at(uses, index))) continue;
    const share = at(shares, index);
    const waiting = metrics.queued ? (sample.queued ?? 0) : 0;
    const working = metrics.running ? (sample.running ?? 0) : 0;
    queued[index] = waiting / share;
    kv[index] = metrics.kv ? (sample.kvUtilization ?? 0) : 0;
    inside[index] = (waiting + working) / share;
  }
  const mean = (values: Float64Array): number => meanOf(values, shares);
  const loads = { queued, kv, inside, means: { queued: mean(queued), kv: mean(kv), inside: mean(inside) } };
  putIn(loads, uses, 'mean', loads.means);
  putIn(loads, uses, 'worst', worstOf(loads, uses));
  return loads;
}

/** By configured weight, over those that have a value. */
function meanOf(values: Float64Array, shares: Float64Array): number {
  let sum = 0;
  let total = 0;
  for (let index = 0; index < values.length; index++) {
    if (Number.isNaN(at(values, index))) continue;
    sum += at(shares, index) * at(values, index);
    total += at(shares, index);
  }
  return sum / total;
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

import { at } from './at.ts';
import { teachable } from './capacity.ts';
import type { Backend } from './model/backend.ts';
import type { ServerGroup } from './model/server-group.ts';

/** More zones in a group are not told apart: each has an assignment of its own. */
export const ZONES_MAX = 16;

/** The zones of a group whose sidecars keep to their own, in the order of their names. */
export interface Zones {
  readonly names: readonly string[];
  /** By roster index: which of `names`; -1: of none. */
  readonly places: Int32Array;
}

/**
 * @param backends in roster order; those without a configured weight have no say.
 * @returns undefined: no zone has a choice, as the group does not ask for it, or all are in one or nobody says where.
 */
export function zonesOf(
  { locality }: Pick<ServerGroup, 'locality'>,
  backends: readonly Backend[],
): Zones | undefined {
  if (locality !== 'Prefer') return undefined;
  const counts = new Map<string, number>();
  let total = 0;
  for (const { zone, weight } of backends) {
    if (weight === 0) continue;
    total++;
    if (zone !== undefined) counts.set(zone, (counts.get(zone) ?? 0) + 1);
  }
  const names = [...counts.keys()].toSorted();
  if (names.length === 0 || counts.get(names[0] ?? '') === total) return undefined;
  const index = new Map(names.map((name, place) => [name, place]));
  return { names, places: Int32Array.from(backends, ({ zone }) => index.get(zone ?? '') ?? -1) };
}

/** Whether sidecars can be told of each zone. */
export function areFew({ names }: Zones): boolean {
  return names.length <= ZONES_MAX;
}

/**
 * How much lighter than the whole group each zone is, its backends weighted by their share.
 * @param deviations e of the rule
 * @param counts whether a backend's own sample counts
 * @returns by place of the zone; NaN: of none of its backends a sample counts.
 */
export function zoneMeans(
  { names, places }: Zones,
  deviations: Float64Array,
  shares: Float64Array,
  counts: (index: number) => boolean,
): Float64Array {
  const sums = new Float64Array(names.length);
  const totals = new Float64Array(names.length);
  for (let index = 0; index < deviations.length; index++) {
    const place = at(places, index);
    const share = at(shares, index);
    if (place < 0 || share === 0 || !counts(index)) continue;
    sums[place] = at(sums, place) + share * teachable(at(deviations, index));
    totals[place] = at(totals, place) + share;
  }
  return sums.map((sum, place) => sum / at(totals, place));
}

/**
 * Deviations from the mean of the own zone instead of the group's: what a zone has more of because its own sidecars send
 * it, its backends do not cope with any better or worse.
 * @param means of {@link zoneMeans}
 */
export function withinZones({ places }: Zones, deviations: Float64Array, means: Float64Array): Float64Array {
  return deviations.map((deviation, index) => {
    const place = at(places, index);
    const mean = place < 0 ? Number.NaN : at(means, place);
    return Number.isNaN(mean) ? deviation : teachable(deviation) - mean;
  });
}

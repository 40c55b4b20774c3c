import type { Backend, BackendId } from './model/backend.ts';

/** The backends of a group in canonical order: whatever order discovery lists them in, the same numbers come out. */
export interface Roster {
  /** As the group lists them. */
  readonly servers: readonly Backend[];
  /** Sorted by address, then port. Every per-backend array of an evaluation follows this order. */
  readonly backends: readonly Backend[];
  /** Where `servers[j]` stands in `backends`. */
  readonly positions: Uint32Array;
  readonly indexes: ReadonlyMap<BackendId, number>;
  /** c of the rule: configured weight over the mean of those that take traffic; 0 for those that are set aside. */
  readonly shares: Float64Array;
  /** N of the rule: how many take traffic, as they have a configured weight above 0, do not drain and do not sleep. */
  readonly active: number;
  /** Those that end what they have begun, without those of configured weight 0. */
  readonly draining: readonly Backend[];
}

/** @returns `previous` when it is of the same list. */
export function rosterOf(servers: readonly Backend[], previous: Roster | undefined): Roster {
  if (previous?.servers === servers) return previous;
  const backends = servers.toSorted(byAddressThenPort);
  const indexes = new Map(backends.map((backend, index) => [backend.id, index]));
  const weights = backends.map(activeWeight);
  return {
    servers,
    backends,
    positions: Uint32Array.from(servers, ({ id }) => indexes.get(id) ?? 0),
    indexes,
    shares: sharesOf(weights),
    active: countAboveZero(weights),
    draining: backends.filter(({ weight, draining }) => draining === true && weight > 0),
  };
}

/** The same with those that sleep set aside, as if their configured weight were 0. */
export function withoutSleepers(roster: Roster, isAsleep: (index: number) => boolean): Roster {
  if (!roster.backends.some((_, index) => isAsleep(index))) return roster;
  const weights = roster.backends.map((backend, index) => (isAsleep(index) ? 0 : activeWeight(backend)));
  const draining = roster.draining.filter(({ id }) => !isAsleep(roster.indexes.get(id) ?? 0));
  return { ...roster, shares: sharesOf(weights), active: countAboveZero(weights), draining };
}

function activeWeight({ weight, draining }: Backend): number {
  return draining === true ? 0 : weight;
}

/** Weights over the mean of those above 0. */
function sharesOf(weights: readonly number[]): Float64Array {
  const active = countAboveZero(weights);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Float64Array.from(weights, (weight) => (active === 0 ? 0 : (weight * active) / total));
}

function countAboveZero(weights: readonly number[]): number {
  return weights.filter((weight) => weight > 0).length;
}

/** The order of rosters and assignments. */
export function byAddressThenPort(a: Place, b: Place): number {
  if (a.address !== b.address) return a.address < b.address ? -1 : 1;
  return a.port - b.port;
}

type Place = Pick<Backend, 'address' | 'port'>;

import type { Backend, BackendId } from './model.ts';

/** The backends of a group in canonical order: whatever order discovery lists them in, the same numbers come out. */
export interface Roster {
  /** As the group lists them. */
  readonly servers: readonly Backend[];
  /** Sorted by address, then port. Every per-backend array of an evaluation follows this order. */
  readonly backends: readonly Backend[];
  /** Where `servers[j]` stands in `backends`. */
  readonly positions: Uint32Array;
  readonly indexes: ReadonlyMap<BackendId, number>;
  /** c of the rule: configured weight over the mean of those that take traffic; 0 for those of weight 0. */
  readonly shares: Float64Array;
  /** N of the rule: how many have a configured weight above 0. */
  readonly active: number;
}

/** @returns `previous` when it is of the same list. */
export function rosterOf(servers: readonly Backend[], previous: Roster | undefined): Roster {
  if (previous?.servers === servers) return previous;
  const backends = servers.toSorted(byAddressThenPort);
  const indexes = new Map(backends.map((backend, index) => [backend.id, index]));
  let total = 0;
  let active = 0;
  for (const { weight } of backends) {
    if (weight > 0) active++;
    total += weight;
  }
  return {
    servers,
    backends,
    positions: Uint32Array.from(servers, ({ id }) => indexes.get(id) ?? 0),
    indexes,
    shares: Float64Array.from(backends, ({ weight }) => (active === 0 ? 0 : (weight * active) / total)),
    active,
  };
}

function byAddressThenPort(a: Backend, b: Backend): number {
  if (a.address !== b.address) return a.address < b.address ? -1 : 1;
  return a.port - b.port;
}

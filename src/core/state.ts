import { at } from './at.ts';
import { type BackendMemory, newMemory } from './memory.ts';
import type { Published } from './publication.ts';
import { INITIAL_STAY, type Stay } from './residence.ts';
import type { Roster } from './roster.ts';

/** What a server group has learned. Immutable; its content is the core's own business. */
export interface GroupState {
  /** When it was last evaluated; undefined: never. */
  readonly evaluatedAtMs: number | undefined;
  readonly roster: Roster | undefined;
  /** In roster order. */
  readonly memories: readonly BackendMemory[];
  /** Learned capacities, in roster order. */
  readonly capacities: Float64Array;
  readonly stay: Stay;
  readonly published: Published | undefined;
}

/** The state of a group that begins: its first backends are all there from the start, none is in slow start. */
export function initialState(): GroupState {
  return {
    evaluatedAtMs: undefined,
    roster: undefined,
    memories: [],
    capacities: new Float64Array(0),
    stay: INITIAL_STAY,
    published: undefined,
  };
}

/** Brings what is known of each backend into the order of another roster. Who is not known has joined. */
export function carryOver(
  before: GroupState,
  roster: Roster,
  nowMs: number,
): Pick<GroupState, 'memories' | 'capacities'> {
  const past = before.roster;
  if (past === roster) return before;
  const joinedAtMs = past === undefined ? undefined : nowMs;
  const places = roster.backends.map(({ id }) => past?.indexes.get(id));
  return {
    memories: places.map((place) =>
      place === undefined ? newMemory(joinedAtMs) : at(before.memories, place),
    ),
    capacities: Float64Array.from(places, (place) =>
      place === undefined ? 1 : at(before.capacities, place),
    ),
  };
}

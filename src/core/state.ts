import { type Admission, INITIAL_ADMISSION } from './admission.ts';
import { at } from './at.ts';
import { INITIAL_LAG, type Lag } from './lag.ts';
import { type BackendMemory, newMemory } from './memory.ts';
import type { Published } from './publication.ts';
import { INITIAL_STAY, type Stay } from './residence.ts';
import type { Roster } from './roster.ts';
import { NEVER_SATURATED, type WidelySaturated } from './widely-saturated.ts';
import { initialPaces, type Paces } from './speed.ts';

/** What a server group has learned. Immutable; its content is the core's own business. */
export interface GroupState {
  /** When it was last evaluated; undefined: never. */
  readonly evaluatedAtMs: number | undefined;
  readonly roster: Roster | undefined;
  /** In roster order. */
  readonly memories: readonly BackendMemory[];
  /** Residuals of the learned capacities, in roster order. */
  readonly residuals: Float64Array;
  readonly paces: Paces;
  readonly stay: Stay;
  readonly lag: Lag;
  readonly admission: Admission;
  readonly published: Published | undefined;
  /** What the rule came to: the same object as `published`, except while the group is observed. */
  readonly computed: Published | undefined;
  /** Of the newest evaluations by which many backends were saturated. */
  readonly widelySaturated: WidelySaturated;
}

/** The state of a group that begins: its first backends are all there from the start, none is in slow start. */
export function initialState(): GroupState {
  return {
    evaluatedAtMs: undefined,
    roster: undefined,
    memories: [],
    residuals: new Float64Array(0),
    paces: initialPaces(0),
    stay: INITIAL_STAY,
    lag: INITIAL_LAG,
    admission: INITIAL_ADMISSION,
    published: undefined,
    computed: undefined,
    widelySaturated: NEVER_SATURATED,
  };
}

/** Brings what is known of each backend into the order of another roster. Who is not known has joined. */
export function carryOver(
  before: GroupState,
  roster: Roster,
  nowMs: number,
): Pick<GroupState, 'memories' | 'residuals' | 'paces' | 'lag'> {
  const past = before.roster;
  if (past === roster) return before;
  const joinedAtMs = past === undefined ? undefined : nowMs;
  const places = roster.backends.map(({ id }) => past?.indexes.get(id));
  const carry = (values: Float64Array, initial: number): Float64Array =>
    Float64Array.from(places, (place) => (place === undefined ? initial : at(values, place)));
  const { finished, runningSeconds } = before.paces;
  return {
    memories: places.map((place) =>
      place === undefined ? newMemory(joinedAtMs) : at(before.memories, place),
    ),
    residuals: carry(before.residuals, 1),
    paces: { finished: carry(finished, 0), runningSeconds: carry(runningSeconds, 0) },
    lag: { ...before.lag, history: before.lag.history.map((of) => ({ ...of, shares: carry(of.shares, 0) })) },
  };
}

import { type Admission, INITIAL_ADMISSION } from './admission.ts';
import { at } from './at.ts';
import { RETURN_MS } from './draining.ts';
import { INITIAL_LAG, type Lag } from './lag.ts';
import { type BackendMemory, newMemory } from './memory.ts';
import type { BackendId } from './model/backend.ts';
import { NO_PACE, type PromptPace } from './prompts.ts';
import type { Published } from './publication.ts';
import { INITIAL_STAY, type Stay } from './residence.ts';
import type { Roster } from './roster.ts';
import { NO_ZONES, type ZoneMemories } from './zone-variants.ts';
import { NEVER_SATURATED, type WidelySaturated } from './widely-saturated.ts';
import { initialPaces, type Paces } from './speed.ts';
import { initialTrust, type Trust } from './trust.ts';

/** Of those that left, that are remembered. */
const DEPARTED_MAX = 10_000;

/** What a server group has learned. Immutable; its content is the core's own business. */
export interface GroupState {
  /** When it was last evaluated; undefined: never. */
  readonly evaluatedAtMs: number | undefined;
  /** When the collection began that this rested on. */
  readonly collectedAtMs: number | undefined;
  readonly roster: Roster | undefined;
  /** Those that left within the last minute. */
  readonly departed: ReadonlyMap<BackendId, Departed>;
  /** In roster order. */
  readonly memories: readonly BackendMemory[];
  /** Residuals of the learned capacities, in roster order. */
  readonly residuals: Float64Array;
  readonly paces: Paces;
  readonly promptPace: PromptPace;
  readonly trust: Trust;
  readonly stay: Stay;
  readonly lag: Lag;
  readonly admission: Admission;
  readonly published: Published | undefined;
  /** What the rule came to: the same object as `published`, except while the group is observed. */
  readonly computed: Published | undefined;
  /** What sidecars of the zones were told; none where nobody prefers one. */
  readonly zones: ZoneMemories;
  /** Of the newest evaluations by which many backends were saturated. */
  readonly widelySaturated: WidelySaturated;
}

/** The state of a group that begins: its first backends are all there from the start, none is in slow start. */
export function initialState(): GroupState {
  return {
    evaluatedAtMs: undefined,
    collectedAtMs: undefined,
    roster: undefined,
    departed: new Map(),
    memories: [],
    residuals: new Float64Array(0),
    paces: initialPaces(0),
    promptPace: NO_PACE,
    trust: initialTrust(0),
    stay: INITIAL_STAY,
    lag: INITIAL_LAG,
    admission: INITIAL_ADMISSION,
    published: undefined,
    computed: undefined,
    zones: NO_ZONES,
    widelySaturated: NEVER_SATURATED,
  };
}

/**
 * Brings what is known of each backend into the order of another roster. Who is not known has joined, unless it left
 * less than a minute ago: then it is the one that it was.
 */
export function carryOver(
  before: GroupState,
  roster: Roster,
  nowMs: number,
): Pick<GroupState, 'departed' | 'memories' | 'residuals' | 'paces' | 'trust' | 'lag'> {
  const departed = withoutForgotten(before.departed, nowMs);
  const past = before.roster;
  if (past === roster) return { ...before, departed };
  const joinedAtMs = past === undefined ? undefined : nowMs;
  const known = roster.backends.map(({ id }) => {
    const place = past?.indexes.get(id);
    return place === undefined ? departed.get(id) : knownAt(before, place);
  });
  const carry = (values: Float64Array): Float64Array =>
    Float64Array.from(roster.backends, ({ id }) => {
      const place = past?.indexes.get(id);
      return place === undefined ? 0 : at(values, place);
    });
  const each = (initial: number, of: (known: Known) => number): Float64Array =>
    Float64Array.from(known, (one) => (one === undefined ? initial : of(one)));
  return {
    departed: withDeparted(departed, before, roster, nowMs),
    memories: known.map((of) => of?.memory ?? newMemory(joinedAtMs)),
    residuals: each(1, ({ residual }) => residual),
    paces: {
      finished: each(0, ({ pace }) => pace.finished),
      runningSeconds: each(0, ({ pace }) => pace.runningSeconds),
    },
    trust: {
      values: each(1, ({ trust }) => trust.value),
      doubted: each(0, ({ trust }) => trust.doubted),
      arrived: each(0, ({ trust }) => trust.arrived),
      brought: each(0, ({ trust }) => trust.brought),
      finished: each(0, ({ trust }) => trust.finished),
      runningSeconds: each(0, ({ trust }) => trust.runningSeconds),
      latencySum: each(0, ({ trust }) => trust.latencySum),
      latencyCount: each(0, ({ trust }) => trust.latencyCount),
    },
    lag: {
      ...before.lag,
      history: before.lag.history.map(({ atMs, published, computed }) => ({
        atMs,
        published: carry(published),
        computed: carry(computed),
      })),
    },
  };
}

/** What is known of one backend. */
interface Known {
  readonly memory: BackendMemory;
  readonly residual: number;
  readonly pace: { readonly finished: number; readonly runningSeconds: number };
  readonly trust: {
    readonly value: number;
    readonly doubted: number;
    readonly arrived: number;
    readonly brought: number;
    readonly finished: number;
    readonly runningSeconds: number;
    readonly latencySum: number;
    readonly latencyCount: number;
  };
}

/** What was known of one that left. */
interface Departed extends Known {
  /** When it left, or began to drain before that. */
  readonly leftAtMs: number;
}

function knownAt({ memories, residuals, paces, trust }: GroupState, place: number): Known {
  return {
    memory: at(memories, place),
    residual: at(residuals, place),
    pace: { finished: at(paces.finished, place), runningSeconds: at(paces.runningSeconds, place) },
    trust: {
      value: at(trust.values, place),
      doubted: at(trust.doubted, place),
      arrived: at(trust.arrived, place),
      brought: at(trust.brought, place),
      finished: at(trust.finished, place),
      runningSeconds: at(trust.runningSeconds, place),
      latencySum: at(trust.latencySum, place),
      latencyCount: at(trust.latencyCount, place),
    },
  };
}

function withoutForgotten(departed: GroupState['departed'], nowMs: number): GroupState['departed'] {
  const isForgotten = ({ leftAtMs }: Departed): boolean => nowMs - leftAtMs > RETURN_MS;
  if (![...departed.values()].some(isForgotten)) return departed;
  return new Map([...departed].filter(([, of]) => !isForgotten(of)));
}

/** Without those that came back, and with those that are in this roster no more. */
function withDeparted(
  departed: GroupState['departed'],
  before: GroupState,
  { indexes }: Roster,
  nowMs: number,
): GroupState['departed'] {
  const remaining = new Map([...departed].filter(([id]) => !indexes.has(id)));
  for (const [id, place] of before.roster?.indexes ?? []) {
    if (indexes.has(id)) continue;
    const known = knownAt(before, place);
    const leftAtMs = known.memory.drainingSinceMs ?? nowMs;
    if (nowMs - leftAtMs <= RETURN_MS) remaining.set(id, { ...known, leftAtMs });
  }
  return new Map([...remaining].slice(-DEPARTED_MAX));
}

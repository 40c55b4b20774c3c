import type { StoredCell } from './cell-store.ts';
import { ARMS, type ArmName, type CellSpec, type Scenario } from './model.ts';
import type { Row } from './row.ts';
import { countedSeconds, HEADLINE_ARMS, USUAL_SIDECARS } from './scenarios.ts';

/** What the command line asks for; missing: what each scenario has. */
export interface Selection {
  readonly scenarios: readonly Scenario[];
  readonly arms?: readonly ArmName[];
  readonly sidecars?: readonly number[];
  /** 1 to that many. */
  readonly seeds: number;
  /** How often a disturbed cell is played again at most, 0 to 3; default 3. */
  readonly reruns?: number;
}

/** Arms side by side on the same requests. They have one rate: a disturbed one takes all of them to the lower one. */
interface Group {
  readonly scenario: Scenario;
  readonly sidecars: number;
  readonly seed: number;
  /** Those that are asked for. */
  readonly arms: readonly ArmName[];
}

/** A row that is being put together. */
type Draft = { -readonly [Key in keyof Row]: Row[Key] };

/** Rates of the first attempt and of the three after disturbed ones. */
export const RATE_FACTORS = [1, 0.9, 0.8, 0.7] as const;
/** Start and end of a cell besides its warm-up and counted time: processes, the last requests, the file. */
const AROUND_SECONDS = { short: 8, long: 20 } as const;

/** What is planned, and what of it is done and shown. `find` looks among the finished cells. */
export class Plan {
  readonly #groups: readonly Group[];
  readonly #rateFactors: readonly number[];
  readonly #find: (spec: CellSpec) => StoredCell | undefined;

  constructor(selection: Selection, find: (spec: CellSpec) => StoredCell | undefined) {
    this.#groups = groupsOf(selection);
    this.#rateFactors = RATE_FACTORS.slice(0, 1 + (selection.reruns ?? RATE_FACTORS.length - 1));
    this.#find = find;
  }

  get size(): number {
    return this.#groups.reduce((sum, { arms }) => sum + arms.length, 0);
  }

  /** In the order in which they are to be played: those that have no result at the rate of their group. */
  open(): readonly CellSpec[] {
    return this.#groups.flatMap((group) => {
      const rateFactor = this.#rateOf(group);
      return group.arms
        .map((arm) => specOf(group, arm, rateFactor))
        .filter((spec) => this.#find(spec) === undefined);
    });
  }

  /** Finished cells that were disturbed, at whatever rate, of arms that are not asked for too. */
  disturbed(): readonly CellSpec[] {
    return this.#groups.flatMap((group) =>
      RATE_FACTORS.flatMap((rateFactor) => ARMS.map((arm) => specOf(group, arm, rateFactor))).filter(
        (spec) => (this.#find(spec)?.result.disturbances ?? []).length > 0,
      ),
    );
  }

  /** What is done so far, by scenario, sidecars and arm. */
  rows(): readonly Row[] {
    const rows = new Map<string, Draft>();
    for (const group of this.#groups) {
      const rateFactor = this.#rateOf(group);
      for (const arm of group.arms) {
        const { scenario, sidecars } = group;
        const key = `${scenario.name} ${sidecars} ${arm}`;
        const row: Draft = rows.get(key) ?? {
          scenario,
          arm,
          sidecars,
          cells: [],
          disturbed: [],
          products: [],
        };
        rows.set(key, row);
        const stored = this.#find(specOf(group, arm, rateFactor));
        if (stored === undefined) continue;
        row.products = [...new Set([...row.products, stored.product])];
        if (stored.result.disturbances.length === 0) row.cells = [...row.cells, stored.result];
        else row.disturbed = [...row.disturbed, stored.result];
      }
    }
    return inOrder([...rows.values()]);
  }

  /** The first rate at which no finished cell of the group was disturbed, or the last. Arms not asked for count too. */
  #rateOf(group: Group): number {
    const undisturbed = this.#rateFactors.find((rateFactor) =>
      ARMS.every(
        (arm) => (this.#find(specOf(group, arm, rateFactor))?.result.disturbances ?? []).length === 0,
      ),
    );
    return undisturbed ?? this.#rateFactors.at(-1)!;
  }
}

export function attemptOf({ rateFactor }: CellSpec): number {
  return RATE_FACTORS.findIndex((factor) => factor === rateFactor);
}

/** What playing a cell takes, seconds. */
export function playSeconds({ scenario }: CellSpec): number {
  return scenario.warmUpSeconds + countedSeconds(scenario) + AROUND_SECONDS[scenario.stay];
}

/**
 * By seed first, so that a run that is cut short has something of every scenario. With other numbers of sidecars than
 * the usual one only the headline's arms are played, unless arms are asked for.
 */
function groupsOf({ scenarios, arms, sidecars, seeds }: Selection): readonly Group[] {
  const counts = (scenario: Scenario): readonly number[] => sidecars ?? scenario.sidecars ?? [USUAL_SIDECARS];
  const armsOf = (scenario: Scenario, count: number): readonly ArmName[] =>
    arms ??
    ARMS.filter(
      (arm) =>
        (scenario.arms ?? ARMS).includes(arm) && (count === USUAL_SIDECARS || HEADLINE_ARMS.includes(arm)),
    );
  return Array.from({ length: seeds }, (_, index) => index + 1).flatMap((seed) =>
    scenarios.flatMap((scenario) =>
      counts(scenario).map((count) => ({ scenario, sidecars: count, seed, arms: armsOf(scenario, count) })),
    ),
  );
}

function specOf({ scenario, sidecars, seed }: Group, arm: ArmName, rateFactor: number): CellSpec {
  return { scenario, arm, sidecars, seed, rateFactor };
}

/** Scenarios as they were asked for, then sidecars, then arms as {@link ARMS} has them. */
function inOrder(rows: readonly Row[]): readonly Row[] {
  const names = [...new Set(rows.map(({ scenario }) => scenario.name))];
  return rows.toSorted(
    (one, other) =>
      names.indexOf(one.scenario.name) - names.indexOf(other.scenario.name) ||
      one.sidecars - other.sidecars ||
      ARMS.indexOf(one.arm) - ARMS.indexOf(other.arm),
  );
}

import type { GroupState, Warning } from '../state-shape.ts';

/** What a group comes to. null: no backend tells. */
export interface GroupSummary {
  readonly backends: number;
  readonly healthy: number;
  readonly unhealthy: number;
  /** HEALTHY or not, their metrics do not come. */
  readonly silent: number;
  /** Not in the assignment, or DRAINING. */
  readonly out: number;
  readonly queued: number | null;
  readonly running: number | null;
}

export function summaryOf({ backends, rows }: GroupState): GroupSummary {
  const count = (holds: (row: GroupState['rows'][number]) => boolean): number => rows.filter(holds).length;
  const healthy = count(([health]) => health === 'HEALTHY');
  const unhealthy = count(([health]) => health === 'UNHEALTHY');
  return {
    backends: backends.length,
    healthy,
    unhealthy,
    silent: count((row) => row[10] > 0),
    out: rows.length - healthy - unhealthy,
    queued: sum(rows.map((row) => row[5])),
    running: sum(rows.map((row) => row[6])),
  };
}

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

/** A warning, and the group that it is about; undefined: none in particular. */
export interface PlacedWarning extends Warning {
  readonly group: string | undefined;
}

/** Those of the whole first, then group by group. */
export function allWarnings(state: {
  readonly warnings: readonly Warning[];
  readonly groups: readonly Pick<GroupState, 'name' | 'warnings'>[];
}): readonly PlacedWarning[] {
  return [
    ...state.warnings.map((warning) => ({ ...warning, group: undefined })),
    ...state.groups.flatMap(({ name, warnings }) => warnings.map((warning) => ({ ...warning, group: name }))),
  ];
}

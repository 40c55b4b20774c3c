import type {
  GroupChange,
  GroupHistory,
  GroupState,
  HistoryPoint,
  State,
  StateChange,
} from '../state-shape.ts';

/** The last 15 minutes. */
const POINTS_MAX = 180;

/** What is known once a change has come. A group that the state does not have is left out. */
export function mergeChange(state: State, change: StateChange): State {
  const { groups: changed = [], ...parts } = change;
  const byName = new Map(changed.map((group) => [group.name, group]));
  const groups = state.groups.map((group) => {
    const of = byName.get(group.name);
    return of === undefined ? group : mergeGroup(group, of);
  });
  return { ...state, ...parts, groups };
}

function mergeGroup(group: GroupState, { point, ...figures }: GroupChange): GroupState {
  const history = point === undefined ? group.history : withPoint(group.history, point);
  return { ...group, ...figures, history };
}

/** Steps between the latest point and this one that brought none are not known. */
function withPoint(history: GroupHistory, point: HistoryPoint): GroupHistory {
  const { stepMs, endAt, series } = history;
  if (endAt !== null && point.at <= endAt) return history;
  const steps = endAt === null ? 1 : Math.max(1, Math.round((point.at - endAt) / stepMs));
  const gap = Array<null>(Math.min(steps - 1, POINTS_MAX)).fill(null);
  const entries = Object.entries(series).map(([name, values]) => {
    const value = point[name as keyof typeof series];
    return [name, [...values, ...gap, value].slice(-POINTS_MAX)];
  });
  return { stepMs, endAt: point.at, series: Object.fromEntries(entries) as GroupHistory['series'] };
}

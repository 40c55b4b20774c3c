import type { Backend, BackendId } from '../core/model/backend.ts';

/** Twice as many as a group may have, so that a whole fleet can leave while another one joins. */
const MEMBERS_MAX = 20_000;

/** Where a backend stands that its source does not tell any more. */
export type Absence =
  /** The list that lacks it is doubted, and has stood since then. */
  | { readonly kind: 'doubted'; readonly sinceMs: number }
  | { readonly kind: 'leaving'; readonly untilMs: number };

/** One of a group. */
export interface Member {
  readonly backend: Backend;
  /** Since when its source says that it goes; undefined: it does not. */
  readonly drainingSinceMs: number | undefined;
  /** undefined: the source tells it. */
  readonly absence: Absence | undefined;
}

/** Without those that are missing for the longest, where there are too many: first of those that leave. */
export function bounded(members: Map<BackendId, Member>): ReadonlyMap<BackendId, Member> {
  const beyond = members.size - MEMBERS_MAX;
  if (beyond <= 0) return members;
  const missing = [...members].flatMap(([id, { absence }]) =>
    absence === undefined ? [] : [{ id, absence }],
  );
  const [doubted, leaving] = [missing.filter(isDoubted), missing.filter((of) => !isDoubted(of))];
  const byTime = [...leaving.toSorted(earlier), ...doubted.toSorted(earlier)];
  for (const { id } of byTime.slice(0, beyond)) members.delete(id);
  return members;
}

interface Missing {
  readonly absence: Absence;
}

function isDoubted({ absence }: Missing): boolean {
  return absence.kind === 'doubted';
}

/** Among those of one kind. */
function earlier(one: Missing, other: Missing): number {
  return timeOf(one.absence) - timeOf(other.absence);
}

function timeOf(absence: Absence): number {
  return absence.kind === 'doubted' ? absence.sinceMs : absence.untilMs;
}

import type { GroupDecision } from './decision.ts';

/*
 * Where a group stands: what was decided, and what its sidecars have. Times named `…Ms` are monotonic milliseconds
 * from the process' clock.
 */

/** What the sidecars of a group were told last. */
export interface PublishedDecision {
  /** What the assignment came from. */
  readonly decision: GroupDecision;
  readonly version: string;
  /** Versions by zone, of those whose sidecars were told something else. */
  readonly zones?: ReadonlyMap<string, string> | undefined;
  /** When this version went out. */
  readonly atMs: number;
  /** undefined: no sidecar has acknowledged it. */
  readonly firstAcknowledgedAtMs: number | undefined;
}

/** Where a group stands: its newest decision, and the one that its sidecars have, which may be older. */
export interface GroupStatus {
  readonly newest: GroupDecision;
  readonly published: PublishedDecision;
  /** Sidecars' streams that have acknowledged an assignment of this group, and those of them that have the latest. */
  readonly streams: { readonly following: number; readonly current: number };
}

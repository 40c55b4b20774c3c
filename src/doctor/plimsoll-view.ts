import type { EnvoyLbPolicy } from '../core/model/server-group.ts';

/** What Plimsoll itself says: the replica that was asked, or those. */
export interface PlimsollView {
  readonly groups: ReadonlyMap<string, GroupView>;
}

export interface GroupView {
  /** What sidecars with this node id have from there, by their own word; none: another replica serves it. */
  readonly acknowledged: readonly string[];
  /** The published ones of all zones, before and after Envoy was asked; empty: nothing has been published. */
  readonly versions: readonly string[];
  /** undefined: it does not say. */
  readonly envoyLbPolicy: EnvoyLbPolicy | undefined;
  /** Whose sidecars keep to their own backends; none: no zone counts. */
  readonly zones: readonly string[];
}

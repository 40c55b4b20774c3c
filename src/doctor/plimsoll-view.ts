import type { EnvoyLbPolicy } from '../core/model.ts';

/** What Plimsoll itself says. */
export interface PlimsollView {
  readonly groups: ReadonlyMap<string, GroupView>;
}

export interface GroupView {
  /** The published ones, before and after Envoy was asked; empty: nothing has been published. */
  readonly versions: readonly string[];
  /** undefined: it does not say. */
  readonly envoyLbPolicy: EnvoyLbPolicy | undefined;
}

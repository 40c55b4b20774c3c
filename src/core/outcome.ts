import type { Freshness } from './freshness.ts';
import type { BackendMemory } from './memory.ts';
import type { GroupBasis, Intake } from './model/basis.ts';
import type { LoadAwareSettings, ServerGroup } from './model/server-group.ts';
import type { Published } from './publication.ts';
import type { Roster } from './roster.ts';
import type { Paces } from './speed.ts';
import type { Weighing } from './weighing.ts';

/** Everything that an evaluation came to; per backend in roster order. */
export interface Outcome {
  readonly group: ServerGroup;
  /** undefined: the group has no load-aware extension. */
  readonly settings: LoadAwareSettings | undefined;
  readonly nowMs: number;
  readonly roster: Roster;
  readonly memories: readonly BackendMemory[];
  readonly freshness: Freshness;
  readonly paces: Paces;
  /** 1: this backend's gauges are not believed, in roster order. */
  readonly doubted: Float64Array;
  /** What each backend took; made when first asked for. */
  readonly intakes: () => (index: number) => Intake;
  readonly weighing: Weighing;
  /** Queue up to which a backend above its mark is not kept from requests; undefined: marks count as they are. */
  readonly sparedUpTo: number | undefined;
  /** What sidecars have from here on, or would have if the group were not only observed. */
  readonly published: Published;
  /** What the weights were computed from; made when first asked for. */
  readonly basis: () => GroupBasis;
}

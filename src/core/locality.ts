import { at } from './at.ts';
import type { Freshness } from './freshness.ts';
import type { BackendMemory } from './memory.ts';
import type { EndpointHealth } from './model/assignment.ts';
import type { LoadAwareSettings, ServerGroup } from './model/server-group.ts';
import type { OverflowTimes } from './overflow.ts';
import { deviations } from './policies/adaptive.ts';
import type { Roster } from './roster.ts';
import { slowStartLimit } from './slow-start.ts';
import type { Weighing } from './weighing.ts';
import { leaving, NO_ZONES, type ZoneMemories, type ZoneVariants, zoneVariants } from './zone-variants.ts';
import { areFew, type Zones, ZONES_MAX, zonesOf } from './zones.ts';

/** {@link ServerGroup.envoyLbPolicy}: weights count as weight / (requests in flight + 1) ^ bias. */
const BIAS = { LeastRequest: 2, RoundRobin: 1 } as const;

/** Which zones are told apart. */
export interface Preference {
  /** undefined: none; everybody is told the same. */
  readonly zones: Zones | undefined;
  readonly warning: string | undefined;
}

/** @param roster without those that sleep */
export function preferenceOf(group: ServerGroup, { backends }: Roster): Preference {
  const zones = group.mode === 'Observe' ? undefined : zonesOf(group, backends);
  if (zones === undefined || areFew(zones)) return { zones, warning: undefined };
  const warning = `Locality: Prefer tells at most ${ZONES_MAX} zones apart, the backends are in ${zones.names.length}: sidecars use all zones alike`;
  return { zones: undefined, warning };
}

/** An evaluation as far as zones need it; per backend in roster order. */
export interface Evaluated {
  readonly group: ServerGroup;
  readonly settings: LoadAwareSettings;
  readonly nowMs: number;
  /** Also those that sleep. */
  readonly all: Roster;
  readonly roster: Roster;
  readonly memories: readonly BackendMemory[];
  readonly freshness: Freshness;
  readonly weighing: Weighing;
  readonly healths: readonly EndpointHealth[];
  readonly dropShare: number;
  readonly times: OverflowTimes;
}

/** What the sidecars of each zone are told. */
export function preferHome(before: ZoneMemories, zones: Zones | undefined, of: Evaluated): ZoneVariants {
  if (zones === undefined) {
    return { reason: leaving(before, []), told: () => ({ memories: NO_ZONES, decisions: [] }) };
  }
  const { group, nowMs, memories, freshness, weighing } = of;
  return zoneVariants(before, {
    group,
    zones,
    all: of.all,
    roster: of.roster,
    weights: weighing.weights,
    healths: of.healths,
    uses: freshness.uses,
    deviations: deviationsOf(of),
    slowStartOf: (index) => slowStartLimit(at(memories, index).joinedAtMs, nowMs),
    dropShare: of.dropShare,
    kept: freshness.kind === 'kept',
    times: of.times,
    bias: BIAS[group.envoyLbPolicy],
  });
}

/** Whatever the policy makes weights from, zones are compared by the same measure. */
function deviationsOf({ settings, weighing: { loads, signals, deviations: known } }: Evaluated) {
  if (loads === undefined) return undefined;
  return settings.balance.policy === 'Adaptive' ? known : deviations(loads, signals);
}

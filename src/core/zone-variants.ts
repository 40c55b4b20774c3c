import { at } from './at.ts';
import type { Proposal } from './dither.ts';
import { isUsable } from './freshness.ts';
import type { EndpointHealth } from './model/assignment.ts';
import type { PublishReason, SampleUse } from './model/decision.ts';
import type { ServerGroup } from './model/server-group.ts';
import type { ZoneDecision } from './model/zones.ts';
import {
  awayFactor,
  nextIntegral,
  overflowGain,
  overflowOf,
  type OverflowTimes,
  ZONE_MARGIN,
} from './overflow.ts';
import { nextPublication, proposalOf, type Published, reasonToPublish } from './publication.ts';
import type { Roster } from './roster.ts';
import { type Zones, zoneMeans } from './zones.ts';

/** What is remembered of one zone. */
export interface ZoneMemory {
  /** The integral part of its overflow, 0..1. */
  readonly integral: number;
  readonly overflow: number;
  readonly published: Published;
}

/** By name of the zone. */
export type ZoneMemories = ReadonlyMap<string, ZoneMemory>;

export const NO_ZONES: ZoneMemories = new Map();

/** What the assignments of the zones are made from; per backend in roster order. */
export interface ZonesInput {
  readonly group: Pick<ServerGroup, 'name' | 'mesh'>;
  readonly zones: Zones;
  /** Also those that sleep. */
  readonly all: Roster;
  readonly roster: Roster;
  /** As for everybody, 0: not in the assignment. */
  readonly weights: Float64Array;
  readonly healths: readonly EndpointHealth[];
  readonly uses: readonly SampleUse[];
  /** e of the rule; undefined: no load was compared. */
  readonly deviations: Float64Array | undefined;
  /** 0.1..1; undefined: past slow start. */
  readonly slowStartOf: (index: number) => number | undefined;
  readonly dropShare: number;
  /** What is published stands. */
  readonly kept: boolean;
  readonly times: OverflowTimes;
  /** How strongly sidecars weigh in their own requests. */
  readonly bias: number;
}

/** What the zones come to, to be told together with what everybody is told: they follow from the same weights. */
export interface ZoneVariants {
  /** Why they should go out; undefined: what is published is near enough. */
  readonly reason: PublishReason | undefined;
  /** @param because why they go out; undefined: what is published stands */
  told(because: PublishReason | undefined): {
    readonly memories: ZoneMemories;
    readonly decisions: readonly ZoneDecision[];
  };
}

/** For sidecars of each zone the weights of the group, those of other zones times a factor. */
export function zoneVariants(before: ZoneMemories, input: ZonesInput): ZoneVariants {
  const { group, zones, deviations, roster, uses } = input;
  const means =
    deviations && zoneMeans(zones, deviations, roster.shares, (index) => isUsable(at(uses, index)));
  const variants = zones.names.map((name, place) => ({
    name,
    figures: figuresOf(before.get(name), input, place, means && -at(means, place)),
    past: before.get(name)?.published,
  }));
  const reasons = variants.map(({ figures: { proposal }, past }) => reasonToPublish(group, proposal, past));
  return {
    reason: reasons.find((reason) => reason !== undefined) ?? leaving(before, zones.names),
    told: (because) => {
      const memories = new Map<string, ZoneMemory>();
      const decisions = variants.map(({ name, past, figures: { proposal, ...figures } }) => {
        const { published } = nextPublication(group, proposal, past, because);
        memories.set(name, { integral: figures.integral, overflow: figures.overflow, published });
        return { zone: name, ...figures, assignment: published.assignment };
      });
      return { memories, decisions };
    },
  };
}

/** Why something should go out where a zone is told apart no more. */
export function leaving(before: ZoneMemories, names: readonly string[]): PublishReason | undefined {
  return [...before.keys()].every((name) => names.includes(name)) ? undefined : 'configuration';
}

function figuresOf(
  before: ZoneMemory | undefined,
  input: ZonesInput,
  place: number,
  excess: number | undefined,
): Omit<ZoneDecision, 'zone' | 'assignment'> & { readonly proposal: Proposal } {
  const { zones, roster, weights, healths, dropShare, times, bias } = input;
  const known = excess === undefined || Number.isNaN(excess) ? undefined : excess;
  const { available, ...sums } = sumsOf(input, place);
  const gain = overflowGain(times);
  const integral = integralOf(before?.integral ?? 0, input, known);
  const asked = integral + gain * ((known ?? ZONE_MARGIN) - ZONE_MARGIN);
  const plain = dropShare > 0 || (!input.kept && input.deviations === undefined);
  const measured = plain ? 1 : overflowOf(asked, available);
  const overflow = input.kept ? (before?.overflow ?? 1) : measured;
  const factor = awayFactor(overflow, sums.home, sums.away, bias);
  const scaled = weights.map((weight, index) =>
    at(zones.places, index) === place ? weight : weight * factor,
  );
  return {
    backends: sums.backends,
    excess: known,
    available,
    gain,
    integral,
    overflow,
    plain,
    factor,
    homeShare: sums.home === 0 ? 0 : sums.home / (sums.home + factor * sums.away),
    proposal: proposalOf(roster, scaled, (index) => at(healths, index), dropShare),
  };
}

/** While a share is refused, nothing may be refused that another zone has room for. */
function integralOf(before: number, { dropShare, times }: ZonesInput, excess: number | undefined): number {
  if (dropShare > 0) return 1;
  return excess === undefined ? before : nextIntegral(before, excess, times);
}

/**
 * `available`: of what the zone is configured for, the part that takes requests now. Those that are new count as far as
 * they have started, and those that do not answer not at all. Those that drain are the zone's no more.
 */
function sumsOf({ zones, all, roster, weights, healths, uses, slowStartOf }: ZonesInput, place: number) {
  let [backends, home, away, configured, taking] = [0, 0, 0, 0, 0];
  for (const { zone, weight, draining } of all.backends) {
    if (zone === at(zones.names, place) && draining !== true) configured += weight;
  }
  for (let index = 0; index < weights.length; index++) {
    const weight = at(weights, index);
    const isHome = at(zones.places, index) === place;
    if (weight === 0) continue;
    if (isHome) backends++;
    if (at(healths, index) !== 'HEALTHY') continue;
    if (!isHome) {
      away += weight;
      continue;
    }
    home += weight;
    if (answers(at(uses, index))) taking += at(roster.backends, index).weight * (slowStartOf(index) ?? 1);
  }
  return { backends, home, away, available: configured === 0 ? 0 : taking / configured };
}

/** Whether requests can be expected to be answered there. */
function answers(use: SampleUse): boolean {
  switch (use) {
    case 'fresh':
    case 'last':
    case 'mean':
    case 'none':
      return true;
    case 'worst':
    case 'frozen':
    case 'aside':
    case 'draining':
    case 'asleep':
    case 'removed':
      return false;
  }
}

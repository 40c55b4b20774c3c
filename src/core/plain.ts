import { groupBasisOf } from './basis.ts';
import { capacitiesOf } from './capacity.ts';
import { backendDecisions } from './decision.ts';
import { LEAST_DELAY_SECONDS } from './delay.ts';
import type { Freshness } from './freshness.ts';
import { newMemory } from './memory.ts';
import type { Assignment, Endpoint } from './model/assignment.ts';
import type { GroupDecision, PublishReason } from './model/decision.ts';
import type { ServerGroup } from './model/server-group.ts';
import { once } from './once.ts';
import type { Outcome } from './outcome.ts';
import { proposalOf, publicationOf } from './publication.ts';
import { INITIAL_STAY } from './residence.ts';
import { rosterOf } from './roster.ts';
import { initialPaces, speedsOf } from './speed.ts';
import { initialTrust, intakesOf } from './trust.ts';
import { unweighed } from './weighing.ts';

/**
 * A group without a load-aware extension: configured weights, all healthy, always to be published.
 * @param before what sidecars have so far
 */
export function evaluatePlain(group: ServerGroup, nowMs: number, before?: Assignment): GroupDecision {
  const roster = rosterOf(group.servers, undefined);
  const memories = roster.backends.map(() => newMemory(undefined));
  const freshness: Freshness = {
    kind: roster.active === 0 ? 'empty' : 'blind',
    uses: roster.backends.map(({ weight, draining }) => {
      if (weight === 0) return 'aside';
      return draining === true ? 'draining' : 'none';
    }),
    widespread: false,
  };
  const paces = initialPaces(roster.shares.length);
  const trust = initialTrust(roster.shares.length);
  const speeds = speedsOf(paces, memories, roster.shares, trust.doubted);
  const residuals = roster.shares.map(() => 1);
  const weighing = unweighed(roster.shares, capacitiesOf(residuals, speeds, roster.shares));
  const published = publicationOf(
    group,
    proposalOf(roster, roster.shares, () => 'HEALTHY', 0),
  );
  const outcome: Outcome = {
    group,
    settings: undefined,
    nowMs,
    roster,
    memories,
    freshness,
    paces,
    doubted: trust.doubted,
    intakes: once(() => intakesOf(trust, undefined)),
    weighing,
    sparedUpTo: undefined,
    published,
    basis: once(() => groupBasisOf(outcome)),
  };
  return {
    serverGroup: group.name,
    atMs: nowMs,
    collectionStartedAtMs: undefined,
    mode: 'configured',
    gain: 0,
    staySeconds: INITIAL_STAY.seconds,
    delaySeconds: LEAST_DELAY_SECONDS,
    backends: backendDecisions(outcome),
    admission: { kind: 'disabled' },
    observing: false,
    computed: published.assignment,
    assignment: published.assignment,
    publish: reasonOf(published.assignment, before),
    warnings: [],
    get basis() {
      return outcome.basis();
    },
  };
}

function reasonOf({ endpoints }: Assignment, before: Assignment | undefined): PublishReason {
  if (before === undefined) return 'first';
  const isSame = ({ address, port, health }: Endpoint, place: number): boolean => {
    const other = before.endpoints[place];
    return address === other?.address && port === other.port && health === other.health;
  };
  return endpoints.length === before.endpoints.length && endpoints.every(isSame)
    ? 'configuration'
    : 'membership';
}

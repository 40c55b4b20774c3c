import { backendDecisions } from './decision.ts';
import { LEAST_DELAY_SECONDS } from './delay.ts';
import type { Freshness } from './freshness.ts';
import { newMemory } from './memory.ts';
import type { GroupDecision, ServerGroup } from './model.ts';
import { proposalOf, publicationOf } from './publication.ts';
import { INITIAL_STAY } from './residence.ts';
import { rosterOf } from './roster.ts';
import { unweighed } from './weighing.ts';

/** A group without a load-aware extension: configured weights, all healthy, always to be published. */
export function evaluatePlain(group: ServerGroup, nowMs: number): GroupDecision {
  const roster = rosterOf(group.servers, undefined);
  const memories = roster.backends.map(() => newMemory(undefined));
  const freshness: Freshness = {
    kind: roster.active === 0 ? 'empty' : 'blind',
    uses: roster.backends.map(({ weight }) => (weight === 0 ? 'aside' : 'none')),
    widespread: false,
  };
  const weighing = unweighed(
    roster.shares,
    roster.shares.map(() => 1),
  );
  const published = publicationOf(
    group.name,
    proposalOf(roster, roster.shares, () => 'HEALTHY'),
  );
  return {
    serverGroup: group.name,
    atMs: nowMs,
    collectionStartedAtMs: undefined,
    mode: 'configured',
    gain: 0,
    staySeconds: INITIAL_STAY.seconds,
    delaySeconds: LEAST_DELAY_SECONDS,
    backends: backendDecisions({
      settings: undefined,
      nowMs,
      roster,
      memories,
      freshness,
      weighing,
      published,
    }),
    assignment: published.assignment,
    publish: 'first',
    warnings: [],
  };
}

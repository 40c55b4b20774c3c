import { explainGroup } from '../../src/admin/explain.ts';
import type { GroupExplanation } from '../../src/admin/explanation.ts';
import type { GroupDecision } from '../../src/core/model/decision.ts';

/** What `/explain` answers after these two evaluations, as a reader of its JSON has it. The second published nothing. */
export function explanationOf(published: GroupDecision, newest: GroupDecision = published): GroupExplanation {
  const explanation = explainGroup({
    status: {
      newest,
      published: {
        decision: published,
        version: '8f41a3c05b7d92e6f010',
        atMs: published.atMs + 2,
        firstAcknowledgedAtMs: published.atMs + 14,
      },
      streams: { following: 4, current: 4 },
    },
    nowMs: newest.atMs + 400,
    openStreams: 4,
    wanted: () => true,
  });
  return JSON.parse(JSON.stringify(explanation)) as GroupExplanation;
}

/** The same after a course of evaluations: of the last one that was published, and the newest. */
export function explanationAfter(decisions: readonly GroupDecision[]): GroupExplanation {
  const newest = decisions.at(-1);
  const published = decisions.findLast(({ publish }) => publish !== undefined);
  if (newest === undefined || published === undefined) throw new Error('nothing was published');
  return explanationOf(published, newest);
}

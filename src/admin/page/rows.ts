import type { EndpointHealth } from '../../core/model/assignment.ts';
import type { SampleUse } from '../../core/model/decision.ts';
import type { GroupState } from '../state-shape.ts';

/** One backend of the table. null: not known, or there is no such thing. */
export interface Row {
  readonly id: string;
  /** Its place in the configuration. */
  readonly index: number;
  readonly configuredWeight: number;
  readonly health: EndpointHealth | null;
  readonly state: RowState;
  readonly why: string | null;
  readonly weight: number;
  /** 0..1 */
  readonly share: number;
  /** 0..100 */
  readonly score: number | null;
  readonly queued: number | null;
  readonly running: number | null;
  /** Queued and running requests. */
  readonly inside: number | null;
  /** 0..1 */
  readonly kvCache: number | null;
  /** Now. */
  readonly sampleAgeSeconds: number | null;
  readonly use: SampleUse;
  readonly missed: number;
  readonly failure: string | null;
  readonly failedSecondsAgo: number | null;
}

/** What a backend is in one word. `silent`: it takes requests, and its metrics do not come. */
export type RowState = 'healthy' | 'silent' | 'unhealthy' | 'draining' | 'out';

/** The backends of a group in the order of the configuration; none before its first evaluation. */
export function rowsOf(group: GroupState, now: number): readonly Row[] {
  const sinceEvaluation = group.evaluatedAt === null ? 0 : Math.max(0, (now - group.evaluatedAt) / 1000);
  return group.backends.flatMap(([id, configuredWeight], index) => {
    const row = group.rows[index];
    if (row === undefined) return [];
    const [health, why, weight, share, score, queued, running, kvCache, age, use, missed, failure, failedAt] =
      row;
    return {
      id,
      index,
      configuredWeight,
      health,
      state: stateOf(health, missed),
      why,
      weight,
      share,
      score,
      queued,
      running,
      inside: queued === null && running === null ? null : (queued ?? 0) + (running ?? 0),
      kvCache,
      sampleAgeSeconds: age === null ? null : age + sinceEvaluation,
      use,
      missed,
      failure,
      failedSecondsAgo: failedAt === null ? null : Math.max(0, (now - failedAt) / 1000),
    };
  });
}

function stateOf(health: EndpointHealth | null, missed: number): RowState {
  switch (health) {
    case null:
      return 'out';
    case 'UNHEALTHY':
      return 'unhealthy';
    case 'DRAINING':
      return 'draining';
    case 'HEALTHY':
      return missed > 0 ? 'silent' : 'healthy';
  }
}

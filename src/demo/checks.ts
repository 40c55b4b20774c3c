import type { ActNumber } from './acts.ts';
import type { ActSummary } from './summary.ts';

/** One thing that a demo must show. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was measured and what was asked for, in words. */
  readonly measured: string;
}

const MOST_P95_RATIO = 0.7;
const LEAST_503 = 20;
const MOST_RECOVERY_MS = 5000;

/** The checks that decide the exit code. An act that is missing fails its check. */
export function checkActs(summaries: readonly ActSummary[]): readonly Check[] {
  const of = (number: ActNumber): ActSummary | undefined =>
    summaries.find(({ act }) => act.number === number);
  return [faster(of(1), of(2)), sheds(of(3)), recovers(of(4)), survives(of(5))];
}

function faster(plain: ActSummary | undefined, loadAware: ActSummary | undefined): Check {
  const ratio = (loadAware?.firstTokenP95Ms ?? Number.NaN) / (plain?.firstTokenP95Ms ?? Number.NaN);
  return {
    name: 'load-aware is faster: first-token p95 of act 2 over act 1',
    ok: ratio <= MOST_P95_RATIO,
    measured: `${ratio.toFixed(2)}, at most ${MOST_P95_RATIO}`,
  };
}

function sheds(overload: ActSummary | undefined): Check {
  const shed = overload?.noUpstream ?? 0;
  return {
    name: 'overload is shed: 503 `no available upstream` with `retry-after` in act 3',
    ok: shed >= LEAST_503,
    measured: `${shed}, at least ${LEAST_503}`,
  };
}

function recovers(fall: ActSummary | undefined): Check {
  const firstOkMs = fall?.firstOkMs ?? Number.POSITIVE_INFINITY;
  return {
    name: 'recovery: first 200 after the load fell, act 4',
    ok: firstOkMs <= MOST_RECOVERY_MS,
    measured: `${(firstOkMs / 1000).toFixed(2)} s, at most ${MOST_RECOVERY_MS / 1000} s`,
  };
}

function survives(killed: ActSummary | undefined): Check {
  const requests = killed?.requests ?? 0;
  const failed = requests - (killed?.ok ?? 0);
  return {
    name: 'nothing fails while the control plane is dead, act 5',
    ok: requests > 0 && failed === 0,
    measured: `${failed} of ${requests} requests failed, at most 0`,
  };
}

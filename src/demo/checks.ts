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
/** Chance alone makes some 0.1 of that: a window has some 25 requests. All or nothing makes up to 0.5. */
const MOST_DEVIATION = 0.25;
const LEAST_IN_TIME = 0.75;
const MOST_RECOVERY_MS = 15_000;

/** The checks that decide the exit code. An act that is missing fails its check. */
export function checkActs(summaries: readonly ActSummary[]): readonly Check[] {
  const of = (number: ActNumber): ActSummary | undefined =>
    summaries.find(({ act }) => act.number === number);
  return [faster(of(1), of(2)), sheds(of(3)), isFlat(of(3)), serves(of(3)), recovers(of(4)), survives(of(5))];
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

function isFlat(overload: ActSummary | undefined): Check {
  const deviation = overload?.settled.deviation ?? Number.NaN;
  return {
    name: 'the 503s are a flat line: deviation of their share over 1 s windows, act 3 once settled',
    ok: deviation <= MOST_DEVIATION,
    measured: `${deviation.toFixed(2)}, at most ${MOST_DEVIATION}`,
  };
}

function serves(overload: ActSummary | undefined): Check {
  const inTime = overload?.settled.servedInTime ?? Number.NaN;
  return {
    name: 'who is let in is served: first token within 1 s, act 3 once settled',
    ok: inTime >= LEAST_IN_TIME,
    measured: `${(100 * inTime).toFixed(0)}%, at least ${100 * LEAST_IN_TIME}%`,
  };
}

function recovers(fall: ActSummary | undefined): Check {
  const lastMs = fall?.lastRefusedMs ?? 0;
  return {
    name: 'recovery: last 503 after the load fell, act 4',
    ok: fall?.firstOkMs !== undefined && lastMs <= MOST_RECOVERY_MS,
    measured: `${(lastMs / 1000).toFixed(2)} s, at most ${MOST_RECOVERY_MS / 1000} s`,
  };
}

/** What a sidecar refuses when the control plane dies it goes on refusing: that it must not be so then is for the play to see to. */
function survives(act: ActSummary | undefined): Check {
  const { requests = 0, ok = 0, shed = 0 } = act?.killed ?? {};
  const failed = requests - ok;
  const before = Number.isNaN(shed) ? 'an unknown share' : `p = ${(100 * shed).toFixed(0)}%`;
  return {
    name: 'nothing fails while the control plane is dead, act 5',
    ok: requests > 0 && failed === 0,
    measured:
      `${failed} of ${requests} requests failed that ended after the kill, at most 0` +
      (shed === 0 ? '' : `; when it was killed sidecars still had to refuse ${before}, and go on with it`),
  };
}

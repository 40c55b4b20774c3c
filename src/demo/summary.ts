import type { Act } from './acts.ts';
import type { Kill } from './live-act.ts';
import type { LoadResult } from './load.ts';
import { quantile } from './quantile.ts';
import { type Refusals, refusalsOf } from './refusals.ts';

/** What the load generator saw of one act. */
export interface ActSummary {
  readonly act: Act;
  readonly requests: number;
  /** From the planned arrival to the first token; a request without one counts as the slowest. */
  readonly firstTokenP50Ms: number;
  readonly firstTokenP95Ms: number;
  /** Share of all requests whose first token came within a second, 0..1. */
  readonly withinSecond: number;
  readonly ok: number;
  /** 503 `no available upstream` with `retry-after`. */
  readonly noUpstream: number;
  /** Everything else, by kind; a status as `status 500`. */
  readonly failures: ReadonlyMap<string, number>;
  /** Answered requests by backend. */
  readonly byBackend: ReadonlyMap<string, number>;
  /** From the start of the act to the first token of the first 200; undefined: there was none. */
  readonly firstOkMs: number | undefined;
  /** Planned arrival of the last request that was refused, from the start of the act; undefined: none was. */
  readonly lastRefusedMs: number | undefined;
  /** After its first {@link SETTLING} the load has been what it is for a while. */
  readonly settled: Refusals;
  /** p, the share that sidecars were told to refuse, over the same time; NaN: it is not known. */
  readonly settledShed: number;
  /** undefined: the control plane was not killed. */
  readonly killed: Killed | undefined;
}

/** What came of the requests that had no end yet when the control plane was killed, and of those after. */
interface Killed {
  readonly requests: number;
  readonly ok: number;
  /** See {@link Kill}. */
  readonly shed: number;
}

/** Part of an act that is left out where something has to have settled. */
const SETTLING = 0.4;

/** @param shed p at even times of the act */
export function summarize(
  act: Act,
  results: readonly LoadResult[],
  shed: readonly number[] = [],
  kill?: Kill,
): ActSummary {
  const firstTokens = results.map((result) => result.firstTokenMs ?? Number.POSITIVE_INFINITY);
  const kinds = count(results.map(({ outcome }) => kindOf(outcome)));
  const okTimes = results.map(({ arrival, firstTokenMs }) => arrival.atMs + (firstTokenMs ?? Infinity));
  const firstOkMs = Math.min(...okTimes, Number.POSITIVE_INFINITY);
  const { ok = 0, no_upstream: noUpstream = 0, ...failures } = Object.fromEntries(kinds);
  return {
    act,
    requests: results.length,
    firstTokenP50Ms: quantile(firstTokens, 0.5),
    firstTokenP95Ms: quantile(firstTokens, 0.95),
    withinSecond: firstTokens.filter((ms) => ms <= 1000).length / Math.max(1, results.length),
    ok,
    noUpstream,
    failures: new Map(Object.entries(failures)),
    byBackend: count(results.flatMap(({ backend }) => (backend === undefined ? [] : [backend]))),
    firstOkMs: Number.isFinite(firstOkMs) ? firstOkMs : undefined,
    lastRefusedMs: lastRefusedMs(results),
    settled: refusalsOf(results, SETTLING * act.seconds * 1000),
    settledShed: meanOf(shed.slice(Math.ceil(SETTLING * shed.length))),
    killed: kill && afterKill(results, kill),
  };
}

function afterKill(results: readonly LoadResult[], { atMs, shed }: Kill): Killed {
  const after = results.filter(({ arrival, endMs }) => arrival.atMs + endMs >= atMs);
  return { requests: after.length, ok: after.filter(({ outcome }) => outcome.kind === 'ok').length, shed };
}

function lastRefusedMs(results: readonly LoadResult[]): number | undefined {
  const times = results.flatMap(({ arrival, outcome }) =>
    outcome.kind === 'no_upstream' ? [arrival.atMs] : [],
  );
  return times.length === 0 ? undefined : Math.max(...times);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** `reset`, `status 500`, … */
function kindOf(outcome: LoadResult['outcome']): string {
  return outcome.kind === 'status' ? `status ${outcome.status}` : outcome.kind;
}

function count(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

import type { ScorerName } from '../../core/model.ts';

/** Where one number of an engine stands on its metrics page. */
export interface Metric {
  /** Names in the order of preference: the first one that is on the page is read. */
  readonly names: readonly string[];
  /** Only series with these labels count; absent: all of them. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** An inference engine, as far as its metrics page goes: data only. */
export interface Engine {
  readonly name: string;
  /** Gauges; undefined: the engine has none. Series are summed, those of KVCacheUtilization averaged. */
  readonly gauges: Readonly<Record<ScorerName, Metric | undefined>>;
  /** Counter of finished requests, summed over its series; undefined: the engine has none. */
  readonly finished: Metric | undefined;
  /** End-to-end latency of finished requests, seconds: a histogram's sum and count; undefined: the engine has none. */
  readonly latency: { readonly sum: Metric; readonly count: Metric } | undefined;
}

/** Every name that is read from a page of the engine. */
export function namesOf(engine: Engine): readonly string[] {
  const { gauges, finished, latency } = engine;
  const metrics = [...Object.values(gauges), finished, latency?.sum, latency?.count];
  return metrics.flatMap((metric) => metric?.names ?? []);
}

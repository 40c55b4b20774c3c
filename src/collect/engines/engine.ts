import type { ScorerName } from '../../core/model/balance-settings.ts';
import type { EngineName } from '../../core/model/collect-settings.ts';

/** One name under which an engine shows a number. */
export interface MetricSource {
  readonly name: string;
  /** Only series with these labels count; an empty value is that of a label that is not there. Absent: all of them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Series that have this label in common repeat each other: of each value the largest counts. */
  readonly onePer?: string;
  /** Only series count that have their value of this label in common with a series of that family. */
  readonly sharing?: { readonly label: string; readonly family: string };
  /** Only versions of the past have it. */
  readonly former?: true;
  /** Only some pages of the engine have it. */
  readonly some?: true;
}

/** Where one number stands on a page, in the order of preference: the first one that is there is read. Empty: nowhere. */
export type Metric = readonly MetricSource[];

/** Where the names of an engine were looked up. */
export type EngineSource =
  | { readonly kind: 'source'; readonly repository: string; readonly version: string; readonly file: string }
  | { readonly kind: 'documentation'; readonly document: string };

/** An inference engine, as far as its metrics page goes: data only. */
export interface Engine {
  readonly name: EngineName;
  /** As its makers call it. */
  readonly product: string;
  readonly path: string;
  /** Of its metrics page, where that is not the port of requests; undefined: it is. */
  readonly port: number | undefined;
  readonly scheme: 'http' | 'https';
  /** Series are summed, those of KVCacheUtilization averaged. */
  readonly gauges: Readonly<Record<ScorerName, Metric>>;
  /** KV utilisation is shown as 0..100 by some versions, so that a small value alone does not tell which it is. */
  readonly mayCountToHundred: boolean;
  /** Counter of finished requests, summed over its series. */
  readonly finished: Metric;
  /** End-to-end latency of finished requests, seconds: a histogram's sum and count. */
  readonly latency: { readonly sum: Metric; readonly count: Metric };
  /**
   * Tokens of prompts: of those that the engine has begun with, and of those that have had their first token; counters.
   * Absent: it does not tell both.
   */
  readonly prompts?: { readonly takenIn: Metric; readonly answered: Metric };
  /**
   * Tokens generated or held, a counter or a gauge that moves with every few of them: it tells an engine that stands
   * still from one with long requests. Absent: none that is known to.
   */
  readonly tokens?: Metric;
  /**
   * Without {@link tokens}, whatever else is on its page may stand still for 10 s while the engine works: the KV gauge is
   * rounded, or the page renewed only so often, or nobody has looked. Absent: a KV gauge moves with every few tokens.
   */
  readonly coarse?: true;
  /** 1 while the engine serves, 0 while it sleeps. */
  readonly awake: Metric;
  readonly source: EngineSource;
  /** What an operator has to know, in a sentence or two of Markdown; undefined: nothing. */
  readonly note: string | undefined;
}

/** Every name that is read from a page of the engine. */
export function namesOf({ gauges, finished, latency, prompts, tokens, awake }: Engine): readonly string[] {
  const counters = [finished, latency.sum, latency.count, ...Object.values(prompts ?? {}), tokens ?? []];
  const metrics = [...Object.values(gauges), ...counters, awake];
  return [...new Set(metrics.flat().map(({ name }) => name))];
}

/** Whether current versions of an engine have no metric for a scorer. */
export function lacksScorer(engine: Engine, scorer: ScorerName): boolean {
  return engine.gauges[scorer].every(({ former }) => former === true);
}

/** The sum and count of a histogram. */
export function histogram(name: string): Engine['latency'] {
  return { sum: [{ name: `${name}_sum` }], count: [{ name: `${name}_count` }] };
}

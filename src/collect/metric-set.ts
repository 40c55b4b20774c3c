import type { ScorerName } from '../core/model/balance-settings.ts';
import type { MetricOverride, MetricOverrides } from '../core/model/collect-settings.ts';
import { type Engine, lacksScorer, type Metric } from './engines/engine.ts';
import { LineFinder } from './line-finder.ts';

/** What is read from the pages of one engine. */
export interface MetricSet {
  /** undefined: of none that is known, only what the settings name themselves. */
  readonly engine: Engine | undefined;
  readonly gauges: Readonly<Record<ScorerName, Metric>>;
  /** KV utilisation may be shown as 0..100, so that a small value alone does not tell which it is. */
  readonly mayCountToHundred: boolean;
  readonly finished: Metric;
  readonly latency: Engine['latency'];
  readonly prompts: NonNullable<Engine['prompts']>;
  readonly tokens: Metric;
  /** Without {@link tokens} all of it may stand still while the engine works. */
  readonly coarse: boolean;
  readonly awake: Metric;
  /** A page without a usable value for one of them gives no sample. */
  readonly required: readonly ScorerName[];
  /** Every name that is read. */
  readonly names: readonly string[];
  /** Those that only a page of this engine has; none of them: it is no longer one. */
  readonly own: readonly string[];
  readonly finder: LineFinder;
}

const NO_PROMPTS = { takenIn: [], answered: [] } as const;
const NOTHING = {
  finished: [],
  latency: { sum: [], count: [] },
  prompts: NO_PROMPTS,
  tokens: [],
  awake: [],
} as const;

/**
 * @param weighted the scorers that carry weight: required where the settings name their metric, and where every page of
 *   the engine has it
 */
export function metricSet(
  engine: Engine | undefined,
  overrides: MetricOverrides,
  weighted: readonly ScorerName[],
): MetricSet {
  const { finished, latency, prompts = NO_PROMPTS, tokens = [], awake } = engine ?? NOTHING;
  const gaugeOf = (scorer: ScorerName): Metric =>
    overridden(overrides[scorer]) ?? engine?.gauges[scorer] ?? [];
  const gauges = {
    TotalQueuedRequests: gaugeOf('TotalQueuedRequests'),
    KVCacheUtilization: gaugeOf('KVCacheUtilization'),
    RunningRequests: gaugeOf('RunningRequests'),
  };
  const set = {
    gauges: {
      TotalQueuedRequests: narrowed(gauges.TotalQueuedRequests, overrides.labels),
      KVCacheUtilization: narrowed(gauges.KVCacheUtilization, overrides.labels),
      RunningRequests: narrowed(gauges.RunningRequests, overrides.labels),
    },
    finished: narrowed(overridden(overrides.finished) ?? finished, overrides.labels),
    latency: {
      sum: narrowed(latency.sum, overrides.labels),
      count: narrowed(latency.count, overrides.labels),
    },
    prompts: {
      takenIn: narrowed(prompts.takenIn, overrides.labels),
      answered: narrowed(prompts.answered, overrides.labels),
    },
    tokens: narrowed(tokens, overrides.labels),
    awake: narrowed(awake, overrides.labels),
  };
  const counters = [set.finished, ...Object.values(set.latency), ...Object.values(set.prompts)];
  const all = [...Object.values(set.gauges), ...counters, set.tokens, set.awake];
  const names = [...new Set(namesIn(all))];
  const theirs = new Set(engine === undefined ? [] : namesIn(Object.values(engine.gauges)));
  return {
    engine,
    ...set,
    // nobody knows in which steps a gauge of the operator's moves
    coarse: overrides.KVCacheUtilization !== undefined || engine?.coarse === true,
    mayCountToHundred: overrides.KVCacheUtilization !== undefined || engine?.mayCountToHundred === true,
    required: weighted.filter((scorer) => isRequired(scorer, engine, overrides)),
    names,
    own: names.filter((name) => theirs.has(name)),
    finder: new LineFinder(names),
  };
}

function namesIn(metrics: readonly Metric[]): readonly string[] {
  return metrics
    .flat()
    .flatMap(({ name, sharing }) => (sharing === undefined ? name : [name, sharing.family]));
}

function overridden(override: MetricOverride | undefined): Metric | undefined {
  return override === undefined ? undefined : [override];
}

function narrowed(metric: Metric, labels: MetricOverrides['labels']): Metric {
  if (Object.keys(labels).length === 0) return metric;
  return metric.map((source) => ({ ...source, labels: { ...labels, ...source.labels } }));
}

function isRequired(scorer: ScorerName, engine: Engine | undefined, overrides: MetricOverrides): boolean {
  if (overrides[scorer] !== undefined) return true;
  if (engine === undefined || lacksScorer(engine, scorer)) return false;
  return engine.gauges[scorer].every(({ some }) => some !== true);
}

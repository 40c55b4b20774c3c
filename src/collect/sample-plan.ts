import type { ScorerName } from '../core/model/balance-settings.ts';
import type { CollectSettings, EngineName } from '../core/model/collect-settings.ts';
import { ENGINES, engineNamed } from './engines/catalogue.ts';
import { type Engine, namesOf } from './engines/engine.ts';
import type { Families } from './exposition.ts';
import { LineFinder } from './line-finder.ts';
import { type MetricSet, metricSet } from './metric-set.ts';

/** How the pages of backends are to be read that are collected in the same way. Shared by their readers. */
export class SamplePlan {
  readonly #settings: Pick<CollectSettings, 'engine' | 'metrics'>;
  readonly #weighted: readonly ScorerName[];
  readonly #sets = new Map<EngineName | undefined, MetricSet>();
  #everything: LineFinder | undefined;

  /** @param weighted the scorers that carry weight */
  constructor(settings: Pick<CollectSettings, 'engine' | 'metrics'>, weighted: readonly ScorerName[]) {
    this.#settings = settings;
    this.#weighted = weighted;
  }

  /** For a configured engine; undefined: it has to be found out. */
  get configured(): MetricSet | undefined {
    const engine = engineNamed(this.#settings.engine);
    return engine === undefined ? undefined : this.setFor(engine);
  }

  setFor(engine: Engine | undefined): MetricSet {
    const known = this.#sets.get(engine?.name);
    if (known !== undefined) return known;
    const set = metricSet(engine, this.#settings.metrics, this.#weighted);
    this.#sets.set(engine?.name, set);
    return set;
  }

  /** Finds the lines of every engine. */
  get everything(): LineFinder {
    this.#everything ??= new LineFinder([
      ...ENGINES.flatMap(namesOf),
      // that the settings name
      ...this.setFor(undefined).names,
    ]);
    return this.#everything;
  }

  /**
   * The set of the engine of which a page has the most gauges, of several such the first in the order of the
   * catalogue: one that passes on the metrics of another shows those of both.
   * @param families what {@link everything} finds
   */
  recognize(families: Families): MetricSet {
    let best: Engine | undefined;
    let most = 0;
    for (const engine of ENGINES) {
      const found = Object.values(engine.gauges).filter((gauge) =>
        gauge.some(({ name }) => families.has(name)),
      );
      if (found.length <= most) continue;
      best = engine;
      most = found.length;
    }
    return this.setFor(best);
  }
}

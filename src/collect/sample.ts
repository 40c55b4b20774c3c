import type { CollectFailure, CollectFailureKind, Sample, ScorerName } from '../core/model.ts';
import { printable } from '../runtime/text.ts';
import { type Engine, type Metric, namesOf } from './engines/engine.ts';
import { type Families, looksLikeExposition, parseExposition, SERIES_MAX } from './exposition.ts';
import { LineFinder } from './line-finder.ts';
import type { Series } from './series.ts';

interface Failed {
  readonly kind: 'failure';
  readonly failure: CollectFailure;
}

export type SampleReading =
  | {
      readonly kind: 'sample';
      readonly sample: Sample;
      /** The page has KV utilisation as a percentage; the sample has it divided by 100. */
      readonly percentage: boolean;
    }
  | Failed;

type Values = { readonly kind: 'values'; readonly name: string; readonly values: readonly number[] } | Failed;

/** No gauge or counter of an engine comes near, and sums of such values stay finite. */
const VALUE_MAX = Number.MAX_SAFE_INTEGER;

/** Turns the pages of one engine into samples. Unknown is not zero. */
export class SampleReader {
  readonly #engine: Engine;
  readonly #required: readonly ScorerName[];
  readonly #wanted: LineFinder;

  /**
   * @param weighted the scorers that carry weight: a page without a usable value for one of them gives no sample, if
   *   the engine has the metric at all; any other metric that is not usable is left undefined
   */
  constructor(engine: Engine, weighted: readonly ScorerName[]) {
    this.#engine = engine;
    this.#required = weighted.filter((scorer) => engine.gauges[scorer] !== undefined);
    this.#wanted = new LineFinder(namesOf(engine));
  }

  /** Never throws, whatever the bytes. */
  read(page: Uint8Array): SampleReading {
    const families = parseExposition(page, this.#wanted);
    if (families === undefined) return failed('too_large', `too large: more than ${SERIES_MAX} series`);
    if (families.size === 0 && !looksLikeExposition(page)) return failed('not_metrics', notMetrics(page));
    return this.#sample(families);
  }

  #sample(families: Families): SampleReading {
    const { gauges, finished, latency } = this.#engine;
    const values: Record<ScorerName, Values> = {
      TotalQueuedRequests: valuesOf(families, gauges.TotalQueuedRequests),
      KVCacheUtilization: utilizations(families, gauges.KVCacheUtilization),
      RunningRequests: valuesOf(families, gauges.RunningRequests),
    };
    for (const scorer of this.#required) {
      const required = values[scorer];
      if (required.kind === 'failure') return required;
    }
    const kv = mean(values.KVCacheUtilization);
    const percentage = isPercentage(values.KVCacheUtilization);
    const sumSeconds = sum(valuesOf(families, latency?.sum));
    const count = sum(valuesOf(families, latency?.count));
    const sample: Sample = {
      queued: sum(values.TotalQueuedRequests),
      running: sum(values.RunningRequests),
      kvUtilization: kv !== undefined && percentage ? kv / 100 : kv,
      finished: sum(valuesOf(families, finished)),
      latency: sumSeconds === undefined || count === undefined ? undefined : { sumSeconds, count },
    };
    return { kind: 'sample', sample, percentage };
  }
}

/** The values of a metric's series, all of them finite and at least 0. */
function valuesOf(families: Families, metric: Metric | undefined): Values {
  const names = metric?.names ?? [];
  for (const name of names) {
    const series = (families.get(name) ?? []).filter((of) => hasLabels(of, metric?.labels));
    if (series.length === 0) continue;
    const bad = series.find((of) => !(of.value >= 0 && of.value <= VALUE_MAX));
    if (bad !== undefined) return failed('not_a_number', unusable(name, bad.text));
    return { kind: 'values', name, values: series.map((of) => of.value) };
  }
  return failed('metric_absent', `metric absent: ${names.join(' or ')}`);
}

function utilizations(families: Families, metric: Metric | undefined): Values {
  const read = valuesOf(families, metric);
  if (read.kind === 'failure') return read;
  const high = read.values.find((value) => value > 100);
  return high === undefined ? read : failed('not_a_number', unusable(read.name, `${high}, more than 100 %`));
}

function hasLabels(series: Series, wanted: Metric['labels']): boolean {
  if (wanted === undefined) return true;
  const labels = series.labels;
  return Object.entries(wanted).every(([name, value]) => labels.get(name) === value);
}

function sum(values: Values): number | undefined {
  return values.kind === 'failure' ? undefined : values.values.reduce((total, value) => total + value, 0);
}

function mean(values: Values): number | undefined {
  const total = sum(values);
  return values.kind === 'failure' || total === undefined ? undefined : total / values.values.length;
}

/** Utilisation is 0..1: a value above that tells that the engine counts to 100. */
function isPercentage(values: Values): boolean {
  return values.kind === 'values' && values.values.some((value) => value > 1);
}

function unusable(name: string, text: string): string {
  return `${name} is ${text === '' ? 'without a value' : printable(text)}`;
}

function notMetrics(page: Uint8Array): string {
  if (page.length === 0) return 'not metrics: an empty page';
  const head = Buffer.from(page.buffer, page.byteOffset, Math.min(page.byteLength, 60)).toString('latin1');
  return `not metrics: a page that begins with ${JSON.stringify(printable(head.trim(), 40))}`;
}

function failed(kind: CollectFailureKind, message: string): Failed {
  return { kind: 'failure', failure: { kind, message } };
}

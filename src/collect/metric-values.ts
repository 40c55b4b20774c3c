import type { CollectFailure, CollectFailureKind } from '../core/model/collection.ts';
import { printable } from '../runtime/text.ts';
import type { Metric, MetricSource } from './engines/engine.ts';
import type { Families } from './exposition.ts';
import type { Series } from './series.ts';

export interface Failed {
  readonly kind: 'failure';
  readonly failure: CollectFailure;
}

/** What the series of a metric show, all of it finite and at least 0. */
export type Values =
  | { readonly kind: 'values'; readonly name: string; readonly values: readonly number[] }
  | Failed;

/** No gauge or counter of an engine comes near, and sums of such values stay finite. */
const VALUE_MAX = Number.MAX_SAFE_INTEGER;

/** Reads the first one of a metric's sources that has a series on the page. */
export function readMetric(families: Families, metric: Metric): Values {
  for (const source of metric) {
    const series = seriesOf(families, source);
    if (series.length > 0) return valuesOf(series, source);
  }
  return failed('metric_absent', `metric absent: ${metric.map(shown).join(' or ')}`);
}

export function sum(values: Values): number | undefined {
  return values.kind === 'failure' ? undefined : values.values.reduce((total, value) => total + value, 0);
}

export function mean(values: Values): number | undefined {
  const total = sum(values);
  return values.kind === 'failure' || total === undefined ? undefined : total / values.values.length;
}

export function failed(kind: CollectFailureKind, message: string): Failed {
  return { kind: 'failure', failure: { kind, message } };
}

function seriesOf(families: Families, { name, labels, sharing }: MetricSource): readonly Series[] {
  const all = families.get(name) ?? [];
  const series = labels === undefined ? all : all.filter((of) => hasLabels(of, labels));
  if (sharing === undefined) return series;
  const { label, family } = sharing;
  const shared = new Set(families.get(family)?.map((of) => of.label(label)));
  return series.filter((of) => shared.has(of.label(label)));
}

/** A label that is not there has an empty value. */
function hasLabels(series: Series, wanted: Readonly<Record<string, string>>): boolean {
  for (const name in wanted) if (series.label(name) !== wanted[name]) return false;
  return true;
}

function valuesOf(series: readonly Series[], { name, onePer }: MetricSource): Values {
  const bad = series.find((of) => !(of.value >= 0 && of.value <= VALUE_MAX));
  if (bad !== undefined) return failed('not_a_number', unusable(name, bad.text));
  const once = series.length > 1 ? withoutRepeats(series) : series;
  if (once === undefined) return failed('not_a_number', `${name} is there twice with the same labels`);
  const values = onePer === undefined ? once.map((of) => of.value) : largestPer(once, onePer);
  return { kind: 'values', name, values };
}

/** With more series it takes a table to find those that are there twice. */
const FEW = 8;

/** @returns undefined: a series is there twice, with different values, and nothing tells which one is right */
function withoutRepeats(series: readonly Series[]): readonly Series[] | undefined {
  const few = series.length <= FEW;
  if (few && series.every((of, index) => !repeatsOneBefore(series, of, index))) return series;
  const byLabels = new Map<string, Series>();
  for (const of of series) {
    const first = byLabels.get(of.labelText);
    if (first === undefined) byLabels.set(of.labelText, of);
    else if (first.value !== of.value) return undefined;
  }
  return byLabels.size === series.length ? series : [...byLabels.values()];
}

function repeatsOneBefore(series: readonly Series[], of: Series, end: number): boolean {
  for (let index = 0; index < end; index++) if (series[index]?.repeats(of) === true) return true;
  return false;
}

function largestPer(series: readonly Series[], label: string): readonly number[] {
  const largest = new Map<string, number>();
  for (const of of series) {
    const value = of.label(label);
    largest.set(value, Math.max(largest.get(value) ?? 0, of.value));
  }
  return [...largest.values()];
}

function unusable(name: string, text: string): string {
  return `${name} is ${text === '' ? 'without a value' : printable(text)}`;
}

function shown({ name, labels }: MetricSource): string {
  const pairs = Object.entries(labels ?? {}).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? name : `${name}{${printable(pairs.join(','), 100)}}`;
}

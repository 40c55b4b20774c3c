import type { GroupHistory, HistorySeries } from '../state-shape.ts';

const SPAN_SECONDS = 15 * 60;

/** Times in seconds, then the values of each series. */
export type ChartData = readonly [readonly number[], ...(readonly (number | null)[])[]];

/** What charts of these series show. */
export function chartData(history: GroupHistory, names: readonly HistorySeries[]): ChartData {
  const { endAt, stepMs, series } = history;
  const length = endAt === null ? 0 : Math.max(...names.map((name) => series[name].length));
  const times = Array.from({ length }, (_, i) => ((endAt ?? 0) - (length - 1 - i) * stepMs) / 1000);
  return [times, ...names.map((name) => (length === 0 ? [] : series[name].slice(-length)))];
}

/** The last 15 minutes, in seconds. */
export function timeRange(now: number): readonly [from: number, to: number] {
  return [now / 1000 - SPAN_SECONDS, now / 1000];
}

/** From 0 to a little above the largest; `least` where there is nothing. */
export function valueRange(largest: number | null, least: number): [from: number, to: number] {
  return [0, Math.max(least, (largest ?? 0) * 1.1)];
}

import type { GroupHistory, GroupState, HistorySeries } from '../state-shape.ts';
import { summaryOf } from './group-summary.ts';

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

/** What holds now, as the figures say it; of what they do not have, the latest point. */
export function newestOf(group: GroupState): Readonly<Record<HistorySeries, number | null>> {
  const { series } = group.history;
  const latest = Object.fromEntries(
    Object.entries(series).map(([name, values]) => [name, values.at(-1) ?? null]),
  ) as Record<HistorySeries, number | null>;
  const { queued, running, silent } = summaryOf(group);
  const { acknowledgementSeconds, admission, gain } = group;
  return {
    ...latest,
    queued,
    running,
    silent,
    gain,
    refusedShare: admission.share,
    acknowledgementSeconds,
  };
}

/** The last 15 minutes, in seconds. */
export function timeRange(now: number): readonly [from: number, to: number] {
  return [now / 1000 - SPAN_SECONDS, now / 1000];
}

/** From 0 to a little above the largest; `least` where there is nothing. */
export function valueRange(largest: number | null, least: number): [from: number, to: number] {
  return [0, Math.max(least, (largest ?? 0) * 1.1)];
}

import type { LoadResult } from './load.ts';

/** How evenly requests were refused. */
export interface Refusals {
  /** Share of the requests that got `no available upstream`, 0..1; NaN when there were none. */
  readonly share: number;
  /** Standard deviation of that share over windows of one second, 0..0.5. */
  readonly deviation: number;
  /** Of the requests that were let in, the share whose first token came within a second of the planned arrival. */
  readonly servedInTime: number;
}

const WINDOW_MS = 1000;

/** Of the requests that arrived from then on. */
export function refusalsOf(results: readonly LoadResult[], fromMs: number): Refusals {
  const later = results.filter(({ arrival }) => arrival.atMs >= fromMs);
  const windows = new Map<number, LoadResult[]>();
  for (const result of later) {
    const window = Math.floor(result.arrival.atMs / WINDOW_MS);
    windows.set(window, [...(windows.get(window) ?? []), result]);
  }
  const letIn = later.filter((result) => !isRefused(result));
  const inTime = letIn.filter(({ firstTokenMs }) => (firstTokenMs ?? Number.POSITIVE_INFINITY) <= 1000);
  return {
    share: shareRefused(later),
    deviation: deviationOf([...windows.values()].map(shareRefused)),
    servedInTime: inTime.length / letIn.length,
  };
}

function isRefused({ outcome }: LoadResult): boolean {
  return outcome.kind === 'no_upstream';
}

function shareRefused(results: readonly LoadResult[]): number {
  return results.filter(isRefused).length / results.length;
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

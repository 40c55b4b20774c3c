import type { BackendId } from '../core/model/backend.ts';
import type { BackendDecision, GroupDecision } from '../core/model/decision.ts';
import { SlotRing } from './slot-ring.ts';
import { HISTORY_SERIES, type HistorySeries } from './state-shape.ts';

const MINUTES_KEPT = 15;
const HISTORY_STEP_MS = 5_000;
const TREND_STEP_MS = 15_000;

/** The latest failed collection of a backend. */
export interface PastFailure {
  readonly message: string;
  readonly atMs: number;
}

/**
 * What an operator wants to know of a server group besides its newest decision: the last 15 minutes in typed arrays, and
 * what failed last. An evaluation costs it a look at each backend, and nothing is turned into text.
 */
export class GroupMemory {
  /** A row of {@link HISTORY_SERIES} each 5 s. */
  readonly history = new SlotRing(
    (MINUTES_KEPT * 60_000) / HISTORY_STEP_MS,
    HISTORY_SERIES.length,
    HISTORY_STEP_MS,
  );
  #trends = trendsOf(0);
  /** By backend; they are never more than the backends. */
  #failures = new Map<BackendId, PastFailure>();
  #ids: readonly BackendId[] = [];
  #membership = 0;
  #acknowledgementSeconds: number | undefined;
  #slowestSeconds = Number.NaN;

  /** Each backend's requests inside and relative weight, in this order, each 15 s. */
  get trends(): SlotRing {
    return this.#trends;
  }

  /** Counts how often backends came, left or changed places. */
  get membership(): number {
    return this.#membership;
  }

  /** Of the latest publication that all sidecars took. */
  get acknowledgementSeconds(): number | undefined {
    return this.#acknowledgementSeconds;
  }

  failureOf(backend: BackendId): PastFailure | undefined {
    return this.#failures.get(backend);
  }

  /** The last sidecar had a publication, so long after it. */
  acknowledged(seconds: number): void {
    this.#acknowledgementSeconds = seconds;
    if (!(this.#slowestSeconds > seconds)) this.#slowestSeconds = seconds;
  }

  /** @param atMs its time on the axis of the history: what never jumps. */
  evaluated(decision: GroupDecision, atMs: number): void {
    const { backends } = decision;
    this.#noteMembers(backends);
    for (const { failure, backend } of backends) {
      if (failure !== undefined) this.#failures.set(backend.id, { message: failure.message, atMs });
    }
    if (this.history.isNew(atMs)) {
      this.history.rowAt(atMs)?.set(historyRow(decision, this.#slowestSeconds));
      this.#slowestSeconds = Number.NaN;
    }
    if (this.#trends.isNew(atMs)) this.#noteTrends(backends, atMs);
  }

  #noteMembers(backends: readonly BackendDecision[]): void {
    const ids = this.#ids;
    if (ids.length === backends.length && backends.every(({ backend }, i) => backend.id === ids[i])) return;
    this.#ids = backends.map(({ backend }) => backend.id);
    const known = new Set(this.#ids);
    this.#failures = new Map([...this.#failures].filter(([id]) => known.has(id)));
    this.#trends = trendsOf(backends.length);
    this.#membership++;
  }

  #noteTrends(backends: readonly BackendDecision[], atMs: number): void {
    const row = this.#trends.rowAt(atMs);
    if (row === undefined) return;
    for (const [index, { sample, relativeWeight }] of backends.entries()) {
      row[2 * index] = (sample?.queued ?? Number.NaN) + (sample?.running ?? 0);
      row[2 * index + 1] = relativeWeight;
    }
  }
}

function trendsOf(backends: number): SlotRing {
  return new SlotRing((MINUTES_KEPT * 60_000) / TREND_STEP_MS, 2 * backends, TREND_STEP_MS);
}

/** In the order of {@link HISTORY_SERIES}. */
function historyRow(decision: GroupDecision, slowestSeconds: number): readonly number[] {
  const { backends, gain, computed } = decision;
  const samples = backends.flatMap(({ sample }) => sample ?? []);
  const weights = backends.map((of) => of.relativeWeight).filter((weight) => weight > 0);
  const values: Readonly<Record<HistorySeries, number>> = {
    queued: sum(samples.flatMap(({ queued }) => queued ?? [])),
    running: sum(samples.flatMap(({ running }) => running ?? [])),
    kvCache: mean(samples.flatMap(({ kvUtilization }) => kvUtilization ?? [])),
    saturated: backends.filter((of) => of.saturated).length,
    silent: backends.filter(({ missed, use }) => missed > 0 && use !== 'draining').length,
    refusedShare: computed.dropShare,
    gain,
    leastWeight: weights.length === 0 ? Number.NaN : weights.reduce((a, b) => Math.min(a, b)),
    mostWeight: weights.length === 0 ? Number.NaN : weights.reduce((a, b) => Math.max(a, b)),
    acknowledgementSeconds: slowestSeconds,
  };
  return HISTORY_SERIES.map((series) => values[series]);
}

/** NaN: there are none. */
function sum(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

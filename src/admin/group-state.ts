import type { BackendDecision, GroupDecision } from '../core/model/decision.ts';
import type { DiscoveryStatus } from '../core/model/discovery.ts';
import type { GroupStatus } from '../core/model/group-status.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import { printable } from '../runtime/text.ts';
import { admissionFigures } from './admission-figures.ts';
import { discoveryState } from './discovery-state.ts';
import type { GroupMemory, PastFailure } from './group-memory.ts';
import { allGroupWarnings } from './group-warnings.ts';
import {
  type BackendRow,
  type GroupFigures,
  type GroupHistory,
  type GroupState,
  HISTORY_SERIES,
  type HistoryPoint,
  type HistorySeries,
  type Trends,
  type UnixMs,
} from './state-shape.ts';

const WHY_LENGTH = 300;
const FAILURE_LENGTH = 200;

/** A moment by both clocks. */
export interface Now {
  /** That of decisions. */
  readonly ms: number;
  readonly unix: (atMs: number) => UnixMs;
}

/** A group with all that does not change at each evaluation. */
export function groupState(
  settings: ServerGroup,
  status: GroupStatus | undefined,
  memory: GroupMemory,
  now: Now,
  discovery?: DiscoveryStatus,
): GroupState {
  return {
    ...groupFigures(settings.name, status, memory, now, discovery),
    policy: settings.loadAware?.balance.policy ?? null,
    intervalSeconds: settings.loadAware?.collect.intervalSeconds ?? null,
    membership: memory.membership,
    backends: (status?.newest.backends ?? []).map(({ backend }) => [backend.id, backend.weight]),
    history: historyOf(memory),
  };
}

/** @param status undefined: it has not been evaluated yet */
export function groupFigures(
  name: string,
  status: GroupStatus | undefined,
  memory: GroupMemory,
  now: Now,
  discovery?: DiscoveryStatus,
): GroupFigures {
  const newest = status?.newest;
  return {
    name,
    evaluatedAt: newest === undefined ? null : now.unix(newest.atMs),
    mode: newest?.mode ?? null,
    observing: newest?.observing ?? false,
    gain: rounded(newest?.gain ?? 0),
    staySeconds: rounded(newest?.staySeconds ?? 0),
    delaySeconds: rounded(newest?.delaySeconds ?? 0),
    admission: {
      kind: newest?.admission.kind ?? 'disabled',
      share: newest?.computed.dropShare ?? 0,
      waitSeconds: waitOf(newest),
    },
    published: status === undefined ? null : publishedOf(status, now),
    streams: status?.streams ?? { following: 0, current: 0 },
    acknowledgementSeconds: orNull(memory.acknowledgementSeconds),
    warnings: allGroupWarnings(newest, discovery, now.ms),
    discovery: discoveryState(discovery, now.unix),
    zones: (newest?.zones ?? []).map(({ zone, homeShare, excess }) => ({
      zone,
      homeShare: rounded(homeShare),
      excess: orNull(excess),
      version: status?.published.zones?.get(zone) ?? null,
    })),
    rows: (newest?.backends ?? []).map((of) => rowOf(of, memory.failureOf(of.backend.id))),
  };
}

function waitOf(decision: GroupDecision | undefined): number | null {
  return orNull(decision && admissionFigures(decision.admission)?.waitSeconds);
}

function publishedOf({ published }: GroupStatus, now: Now): GroupFigures['published'] {
  const { version, atMs, firstAcknowledgedAtMs, decision } = published;
  return {
    version,
    at: now.unix(atMs),
    reason: decision.publish ?? null,
    firstAcknowledgementSeconds: orNull(firstAcknowledgedAtMs && (firstAcknowledgedAtMs - atMs) / 1000),
  };
}

function rowOf(of: BackendDecision, failure: PastFailure | undefined): BackendRow {
  const { health, weight, share, score, sample, sampleAgeMs, use, missed } = of;
  return [
    health ?? null,
    whyOf(of),
    weight,
    rounded(share, 1e6),
    orNull(score, 10),
    orNull(sample?.queued),
    orNull(sample?.running),
    orNull(sample?.kvUtilization),
    orNull(sampleAgeMs && sampleAgeMs / 1000),
    use,
    missed,
    failure === undefined ? null : printable(failure.message, FAILURE_LENGTH),
    failure === undefined ? null : failure.atMs,
  ];
}

/** Reasons are made when they are read, and cost more than all the rest: those of the many that are well are left out. */
function whyOf(of: BackendDecision): string | null {
  const { health, use, frozen, slowStart } = of;
  if (health === 'HEALTHY' && use === 'fresh' && !frozen && slowStart === undefined) return null;
  return of.reasons.length === 0 ? null : printable(of.reasons.join('; '), WHY_LENGTH);
}

/** The latest point; undefined: there is none. */
export function latestPoint({ history }: GroupMemory): HistoryPoint | undefined {
  const { endAtMs } = history;
  if (endAtMs === undefined) return undefined;
  const row = history.rowAt(endAtMs);
  return { at: endAtMs, ...bySeries((index) => orNull(row?.[index])) };
}

function historyOf({ history }: GroupMemory): GroupHistory {
  return {
    stepMs: history.stepMs,
    endAt: history.endAtMs ?? null,
    series: bySeries((index) => history.column(index).map((value) => orNull(value))),
  };
}

function bySeries<T>(read: (index: number) => T): Readonly<Record<HistorySeries, T>> {
  return Object.fromEntries(HISTORY_SERIES.map((series, index) => [series, read(index)])) as Record<
    HistorySeries,
    T
  >;
}

/** The JSON of {@link Trends}, a part at a time. */
export function* trendsJson(serverGroup: string, { trends, membership }: GroupMemory, backends: number) {
  const head: Omit<Trends, 'inside' | 'weight'> = {
    serverGroup,
    membership,
    stepMs: trends.stepMs,
    endAt: trends.endAtMs ?? null,
  };
  yield `${JSON.stringify(head).slice(0, -1)},"inside":[`;
  yield* columns(trends.column.bind(trends), backends, 0, 1);
  yield '],"weight":[';
  yield* columns(trends.column.bind(trends), backends, 1, 100);
  yield ']}';
}

function* columns(
  read: (index: number) => readonly number[],
  backends: number,
  offset: number,
  scale: number,
): Generator<string> {
  for (let index = 0; index < backends; index++) {
    const values = read(2 * index + offset).map((value) => orNull(value, scale));
    yield (index === 0 ? '' : ',') + JSON.stringify(values);
  }
}

/** To a part of one in `scale`; null: not known. */
function orNull(value: number | undefined, scale = 1000): number | null {
  return value === undefined || Number.isNaN(value) ? null : rounded(value, scale);
}

function rounded(value: number, scale = 1000): number {
  return Math.round(value * scale) / scale;
}

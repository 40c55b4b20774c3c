import {
  BACKEND_COLUMNS,
  type ConfigurationState,
  type DeparturesState,
  type DiscoveryState,
  type GoneSidecarState,
  type GroupChange,
  type GroupFigures,
  type GroupHistory,
  type GroupState,
  HISTORY_SERIES,
  type HistoryPoint,
  type HistorySeries,
  type SidecarGroup,
  type SidecarState,
  type SidecarsState,
  type State,
  type StateChange,
  type Warning,
  type ZoneFigures,
} from '../admin/state-shape.ts';
import {
  aFlag,
  aNumber,
  aText,
  type Fields,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  type Shape,
  tupleOf,
} from './shape.ts';

/** What one finds at an address need not be a Plimsoll, nor one of this version. */

const warnings = listOf(objectOf({ text: aText, remedy: aText } satisfies Fields<Warning>));

const ROW: Readonly<Record<(typeof BACKEND_COLUMNS)[number], Shape>> = {
  health: orNull(oneOf(['HEALTHY', 'UNHEALTHY', 'DRAINING'])),
  why: orNull(aText),
  weight: aNumber,
  share: aNumber,
  score: orNull(aNumber),
  queued: orNull(aNumber),
  running: orNull(aNumber),
  kvCache: orNull(aNumber),
  sampleAgeSeconds: orNull(aNumber),
  use: aText,
  missed: aNumber,
  failure: orNull(aText),
  failedAt: orNull(aNumber),
};

const rows = listOf(tupleOf(BACKEND_COLUMNS.map((column) => ROW[column])));

const departures = objectOf({
  total: aNumber,
  shown: listOf(tupleOf([aText, orNull(aNumber)])),
} satisfies Fields<DeparturesState>);

const discovery = objectOf({
  source: orNull(aText),
  listedAt: orNull(aNumber),
  listed: aNumber,
  failing: orNull(
    objectOf({ since: aNumber, reason: aText } satisfies Fields<NonNullable<DiscoveryState['failing']>>),
  ),
  waiting: orNull(aText),
  leftOut: listOf(aText),
  moreLeftOut: aNumber,
  doubted: departures,
  draining: departures,
} satisfies Fields<DiscoveryState>);

const figures = {
  name: aText,
  evaluatedAt: orNull(aNumber),
  mode: orNull(oneOf(['balanced', 'kept', 'configured'])),
  observing: aFlag,
  gain: aNumber,
  staySeconds: aNumber,
  delaySeconds: aNumber,
  admission: objectOf({
    kind: oneOf(['disabled', 'unavailable', 'off', 'engaged', 'shedding']),
    share: aNumber,
    waitSeconds: orNull(aNumber),
  } satisfies Fields<GroupFigures['admission']>),
  published: orNull(
    objectOf({
      version: aText,
      at: aNumber,
      reason: orNull(aText),
      firstAcknowledgementSeconds: orNull(aNumber),
    } satisfies Fields<NonNullable<GroupFigures['published']>>),
  ),
  streams: objectOf({ following: aNumber, current: aNumber } satisfies Fields<GroupFigures['streams']>),
  acknowledgementSeconds: orNull(aNumber),
  warnings,
  discovery: orNull(discovery),
  zones: listOf(
    objectOf({
      zone: aText,
      homeShare: aNumber,
      excess: orNull(aNumber),
      version: orNull(aText),
    } satisfies Fields<ZoneFigures>),
  ),
  rows,
} satisfies Fields<GroupFigures>;

const series = Object.fromEntries(HISTORY_SERIES.map((name) => [name, listOf(orNull(aNumber))])) as Fields<
  GroupHistory['series']
>;

const point = Object.fromEntries(HISTORY_SERIES.map((name) => [name, orNull(aNumber)])) as Fields<
  Record<HistorySeries, number | null>
>;

const group = objectOf({
  ...figures,
  policy: orNull(oneOf(['Adaptive', 'Linear'])),
  intervalSeconds: orNull(aNumber),
  membership: aNumber,
  backends: listOf(tupleOf([aText, aNumber])),
  history: objectOf({
    stepMs: aNumber,
    endAt: orNull(aNumber),
    series: objectOf(series),
  } satisfies Fields<GroupHistory>),
} satisfies Fields<GroupState>);

const groupChange = objectOf({
  ...figures,
  point: optional(objectOf({ at: aNumber, ...point } satisfies Fields<HistoryPoint>)),
} satisfies Fields<GroupChange>);

const sidecars = objectOf({
  total: aNumber,
  streams: aNumber,
  behind: aNumber,
  refusing: aNumber,
  gone: listOf(
    objectOf({
      node: aText,
      cluster: aText,
      identity: aText,
      peer: aText,
      at: aNumber,
      behindSince: aNumber,
    } satisfies Fields<GoneSidecarState>),
  ),
  shown: listOf(
    objectOf({
      node: aText,
      cluster: aText,
      zone: aText,
      identity: aText,
      peer: aText,
      since: aNumber,
      streams: listOf(aText),
      groups: listOf(
        objectOf({
          name: aText,
          version: aText,
          behindSince: orNull(aNumber),
        } satisfies Fields<SidecarGroup>),
      ),
      moreGroups: aNumber,
      nack: orNull(
        objectOf({ at: aNumber, type: aText, names: aText, reason: aText } satisfies Fields<
          NonNullable<SidecarState['nack']>
        >),
      ),
    } satisfies Fields<SidecarState>),
  ),
} satisfies Fields<SidecarsState>);

const configuration = objectOf({
  file: aText,
  yaml: aText,
  inForceSince: aNumber,
  reloads: listOf(objectOf({ at: aNumber, because: aText, outcome: oneOf(['taken', 'refused']) })),
} satisfies Fields<ConfigurationState>);

const state = objectOf({
  build: objectOf({ version: aText, node: aText } satisfies Fields<State['build']>),
  instance: aText,
  startedAt: aNumber,
  now: aNumber,
  ready: aFlag,
  warnings,
  columns: listOf(aText),
  groups: listOf(group),
  sidecars,
  configuration,
} satisfies Fields<State>);

const change = objectOf({
  now: aNumber,
  ready: optional(aFlag),
  warnings: optional(warnings),
  groups: optional(listOf(groupChange)),
  sidecars: optional(sidecars),
  configuration: optional(configuration),
} satisfies Fields<StateChange>);

/** @returns undefined: it is a {@link State} */
export function wrongInState(value: unknown): string | undefined {
  return state(value, '');
}

/** @returns undefined: it is a {@link StateChange} */
export function wrongInChange(value: unknown): string | undefined {
  return change(value, '');
}

import type { AdmissionDecision } from '../core/model/admission.ts';
import type { EndpointHealth } from '../core/model/assignment.ts';
import type { PolicyName } from '../core/model/balance-settings.ts';
import type { GroupMode, PublishReason, SampleUse } from '../core/model/decision.ts';

/**
 * What `GET /state` answers and `GET /events` tells. Fields are added but neither renamed nor taken away. null: there
 * is no such thing. Shares and utilisations are 0..1. Every text is printable and cut, but still text from outside: a
 * page has to write it as text, never as markup.
 *
 * `GET /events` is a stream of server-sent events, at most one in a second:
 * - `event: state`, a {@link State}: the first one, and again whenever a server group or a backend came or went or a
 *   client was too slow for the changes. It replaces all that was known.
 * - `event: change`, a {@link StateChange}: replaces the parts that it has; what it leaves out is as before.
 * At the latest every 5 s a change comes that may have nothing but `now`, as a sign of life. `id` counts the events of
 * one process; a client that comes back gets a whole state whatever it had.
 */
export interface State {
  readonly build: { readonly version: string; readonly node: string };
  /** Another one after each start of the process. */
  readonly instance: string;
  readonly startedAt: UnixMs;
  readonly now: UnixMs;
  /** As `/readyz`. */
  readonly ready: boolean;
  /** What is not about one server group. */
  readonly warnings: readonly Warning[];
  /** Names of the columns of each {@link BackendRow}, in its order. */
  readonly columns: typeof BACKEND_COLUMNS;
  /** In the order of the configuration. */
  readonly groups: readonly GroupState[];
  readonly sidecars: SidecarsState;
  readonly configuration: ConfigurationState;
}

/** Parts that are another than before; `groups` has those that were evaluated, published, or whose warnings changed. */
export interface StateChange {
  readonly now: UnixMs;
  readonly ready?: boolean;
  readonly warnings?: readonly Warning[];
  readonly groups?: readonly GroupChange[];
  readonly sidecars?: SidecarsState;
  readonly configuration?: ConfigurationState;
}

/**
 * Unix time in milliseconds by the clock of the process as it was at its start: it never jumps, and may differ from
 * what other clocks say. To be compared with the newest `now`, never with a clock of one's own.
 */
export type UnixMs = number;

/** Something to look at: what, and what to do about it. */
export interface Warning {
  /** `2 of 8 backends have had no metrics for 40 s: connection refused` */
  readonly text: string;
  readonly remedy: string;
}

export interface GroupState extends GroupFigures {
  /** null: the group has no load-aware extension, its weights are the configured ones. */
  readonly policy: PolicyName | null;
  /** Seconds between collections; null: nothing is collected. */
  readonly intervalSeconds: number | null;
  /** Counts the changes of `backends`. */
  readonly membership: number;
  /** What does not change with the load, in the order of `rows`. */
  readonly backends: readonly BackendHead[];
  readonly history: GroupHistory;
}

export type BackendHead = readonly [id: string, configuredWeight: number];

/** What a change tells of a group; its `rows` are in the order of the `backends` of the latest state. */
export interface GroupChange extends GroupFigures {
  /** There is a new point of the history. One that is not newer than the latest is to be left out. */
  readonly point?: HistoryPoint;
}

/** The newest evaluation. */
export interface GroupFigures {
  readonly name: string;
  /** null: not evaluated yet, and `rows` is empty. */
  readonly evaluatedAt: UnixMs | null;
  readonly mode: GroupMode | null;
  /**
   * `Mode: Observe`: rows, admission and history tell what sidecars would be told. They have the configured weights, all
   * healthy, and refuse nothing.
   */
  readonly observing: boolean;
  /** How strongly weights follow the load; 0 where they do not. */
  readonly gain: number;
  /** How long a request stays, estimated. */
  readonly staySeconds: number;
  /** From the start of a collection until its weights are in force. */
  readonly delaySeconds: number;
  readonly admission: {
    readonly kind: AdmissionDecision['kind'];
    /** p: the share that sidecars are told to refuse. */
    readonly share: number;
    /** How long a new request waits for its turn, estimated. */
    readonly waitSeconds: number | null;
  };
  readonly published: {
    /** As Envoy has it in `cluster.NAME.version_text`. */
    readonly version: string;
    readonly at: UnixMs;
    readonly reason: PublishReason | null;
    /** From its publication; null: no sidecar has acknowledged it. */
    readonly firstAcknowledgementSeconds: number | null;
  } | null;
  /** Streams that have acknowledged an assignment of the group, and those of them that have the published one. */
  readonly streams: { readonly following: number; readonly current: number };
  /** From a publication until the last sidecar had it, latest known; null: not known. */
  readonly acknowledgementSeconds: number | null;
  readonly warnings: readonly Warning[];
  /** Zones whose sidecars keep to their own backends, by name; none: no zone counts. */
  readonly zones: readonly ZoneFigures[];
  /** null: the configuration lists its backends, and none is on its way out. */
  readonly discovery: DiscoveryState | null;
  readonly rows: readonly BackendRow[];
}

/** Where the backends of a group come from, and how it stands with that. */
export interface DiscoveryState {
  /** In words; null: the configuration lists them. */
  readonly source: string | null;
  /** When the source last told a complete list; null: it never did, or there is no source. */
  readonly listedAt: UnixMs | null;
  /** How many backends that list has. */
  readonly listed: number;
  /** Since when the source cannot be read or its list not be used, and why; null: all is well. */
  readonly failing: { readonly since: UnixMs; readonly reason: string } | null;
  /** Why the group has no backends to go by yet; null: it has. */
  readonly waiting: string | null;
  /** What the source has and cannot be used, in words, at most 10. */
  readonly leftOut: readonly string[];
  readonly moreLeftOut: number;
  /** Those that the source does not tell any more, which is not believed yet. */
  readonly doubted: DeparturesState;
  readonly draining: DeparturesState;
}

export interface DeparturesState {
  readonly total: number;
  /** At most 20, and when they go; null: not before the source says more. */
  readonly shown: readonly (readonly [id: string, at: UnixMs | null])[];
}

export interface ZoneFigures {
  readonly zone: string;
  /** The share of its sidecars' requests that stays, by the weights. */
  readonly homeShare: number;
  /** How much busier than the group it is, in units of the deviation; null: not known. */
  readonly excess: number | null;
  /** What its sidecars should have; null: nothing is published. */
  readonly version: string | null;
}

export const BACKEND_COLUMNS = [
  'health',
  'why',
  'weight',
  'share',
  'score',
  'queued',
  'running',
  'kvCache',
  'sampleAgeSeconds',
  'use',
  'missed',
  'failure',
  'failedAt',
] as const;

/** One backend, in the order of {@link BACKEND_COLUMNS}. */
export type BackendRow = readonly [
  /** null: not in the assignment. */
  health: EndpointHealth | null,
  /** What sets it apart, in words; null: it is healthy and its metrics are fresh. */
  why: string | null,
  /** The published integer; 0: not in the assignment. */
  weight: number,
  /** Expected share of new requests, 0..1. */
  share: number,
  /** 0..100, the best in everything has 100; null: no load was compared. */
  score: number | null,
  /** Requests; null: unknown, as the two that follow. */
  queued: number | null,
  running: number | null,
  /** 0..1 */
  kvCache: number | null,
  /** When it was evaluated; null: never sampled. */
  sampleAgeSeconds: number | null,
  /** Which sample was used. */
  use: SampleUse,
  /** Intervals without a sample since the last one; evaluations that come early are none. */
  missed: number,
  /** Why its latest failed collection failed; null: none has since the start. It fails now where `missed` is above 0. */
  failure: string | null,
  failedAt: UnixMs | null,
];

/** The last 15 minutes, a point each `stepMs`. */
export interface GroupHistory {
  /** 5000 */
  readonly stepMs: number;
  /** Of the latest point; the one before it is `stepMs` earlier. null: there is none yet. */
  readonly endAt: UnixMs | null;
  /** Oldest first, all equally long, at most 180 points; null: not known then. */
  readonly series: Readonly<Record<HistorySeries, readonly (number | null)[]>>;
}

export type HistoryPoint = { readonly at: UnixMs } & Readonly<Record<HistorySeries, number | null>>;

export const HISTORY_SERIES = [
  /** Requests of all backends together. */
  'queued',
  'running',
  /** Mean utilisation, 0..1. */
  'kvCache',
  /** Backends. */
  'saturated',
  /** Backends without a fresh sample. */
  'silent',
  /** 0..1 */
  'refusedShare',
  'gain',
  /** Weights over their mean: the smallest and the largest. */
  'leastWeight',
  'mostWeight',
  /** From a publication until the last sidecar had it, the longest of the step; null: none in it. */
  'acknowledgementSeconds',
] as const;

export type HistorySeries = (typeof HISTORY_SERIES)[number];

/** What `GET /trends/GROUP` answers: the last 15 minutes of each backend, in the order of the group's `backends`. */
export interface Trends {
  readonly serverGroup: string;
  /** As in the {@link GroupState}: of another one, the order is another. */
  readonly membership: number;
  /** 15000 */
  readonly stepMs: number;
  readonly endAt: UnixMs | null;
  /** Queued and running requests, oldest first, at most 60 points, for each backend equally many. */
  readonly inside: readonly (readonly (number | null)[])[];
  /** Weight over the mean of the group, to a hundredth; 0: not in the assignment. */
  readonly weight: readonly (readonly (number | null)[])[];
}

export interface SidecarsState {
  /** Connections with at least one stream. */
  readonly total: number;
  readonly streams: number;
  /** How many are behind with a group, of all, also those that are not shown. */
  readonly behind: number;
  /** How many refuse what they are sent, of all. */
  readonly refusing: number;
  /** Lost while behind in the last 5 minutes and not back, the latest first, at most 100. */
  readonly gone: readonly GoneSidecarState[];
  /** At most 100: those that are behind first, then those with a refusal, then by node. */
  readonly shown: readonly SidecarState[];
}

/** One that was behind when its connection ended: if it still runs, it goes on with older weights. */
export interface GoneSidecarState extends Pick<SidecarState, 'node' | 'cluster' | 'identity' | 'peer'> {
  readonly at: UnixMs;
  readonly behindSince: UnixMs;
}

/** One connection of one client. */
export interface SidecarState {
  /** As the client says; it may be empty, and several may say the same. */
  readonly node: string;
  /** The client's cluster, as it says. */
  readonly cluster: string;
  /** Where it runs, as it says; it may be empty. */
  readonly zone: string;
  /** The first name of its certificate; without one, its IP address (of an IPv6 address the network). */
  readonly identity: string;
  /** `address:port` of the other end. */
  readonly peer: string;
  readonly since: UnixMs;
  /** Open streams: `ads`, `eds`, …, as often as there are. */
  readonly streams: readonly string[];
  /** The groups that it has acknowledged an assignment of, at most 20, those that it is behind with first. */
  readonly groups: readonly SidecarGroup[];
  readonly moreGroups: number;
  /** Its latest refusal of a response. */
  readonly nack: {
    readonly at: UnixMs;
    readonly type: string;
    readonly names: string;
    readonly reason: string;
  } | null;
}

export interface SidecarGroup {
  readonly name: string;
  /** The version that it acknowledged last. */
  readonly version: string;
  /** Since when there has been a newer one; null: it has the published one, or that is not 5 s old. */
  readonly behindSince: UnixMs | null;
}

export interface ConfigurationState {
  readonly file: string;
  /** In force: YAML with every default filled in, without secrets. */
  readonly yaml: string;
  readonly inForceSince: UnixMs;
  /** Newest first, at most 20; the first one, at the start, included. */
  readonly reloads: readonly Reload[];
}

export type Reload = {
  readonly at: UnixMs;
  readonly because: 'start' | 'signal' | 'file';
} & (
  | {
      readonly outcome: 'taken';
      /** In words, at most 50 and a line for the rest; empty: nothing has changed. */
      readonly changes: readonly string[];
    }
  | {
      readonly outcome: 'refused';
      /** `FILE:LINE:COLUMN: path.to.Field: what is wrong`, at most 20. */
      readonly mistakes: readonly string[];
      readonly moreMistakes: number;
    }
);

import type { Setting } from './json.ts';

/** What a running Envoy says of itself, as far as it matters here. Times are in seconds. */
export interface EnvoyView {
  /** `1.40.0`; undefined: it does not say, as with the other two. */
  readonly version: string | undefined;
  /** `LIVE`, `PRE_INITIALIZING`, `INITIALIZING` or `DRAINING` */
  readonly state: string | undefined;
  readonly node: string | undefined;
  /** Of its node; undefined: it has none. */
  readonly zone: string | undefined;
  /** Whether its bootstrap names a cluster that it is a member of itself: then Envoy routes by zone where it may. */
  readonly hasLocalCluster: boolean;
  /** The clusters whose endpoints come from a control plane. */
  readonly clusters: readonly ClusterView[];
  /** How control planes are reached, as far as they are in use. */
  readonly controlPlanes: readonly ControlPlaneView[];
  /** The HTTP connection managers of all listeners. */
  readonly managers: readonly ManagerView[];
  /** Resources of dynamic clusters and listeners that Envoy refused, with its reasons. */
  readonly refused: readonly string[];
  /** undefined: there is no such page. */
  readonly stats: Stats | undefined;
}

/** Counters, gauges and texts by name. */
export type Stats = ReadonlyMap<string, number | string>;

export interface ClusterView {
  readonly name: string;
  /** What it asks the control plane for. */
  readonly serviceName: string;
  /** What stands after `cluster.` in the names of its stats. */
  readonly statName: string;
  /** It waits for its first endpoints and cannot be used yet. */
  readonly warming: boolean;
  readonly source: SourceView;
  /** 0..100 */
  readonly panicPercent: Setting<number>;
  readonly mergeWindow: Setting<number>;
  readonly balancing: BalancingView;
  readonly limits: LimitsView;
  readonly idleTimeout: Setting<number>;
  /** Of all of a request on this cluster's side. */
  readonly maxStreamDuration: Setting<number>;
  readonly outliers: OutlierView | undefined;
  /** Envoy's own checks; undefined: there are none. */
  readonly checks: ChecksView | undefined;
  /** Health statuses, besides HEALTHY, in which a backend still gets the requests of its sessions. */
  readonly sessionStatuses: readonly string[];
  /** undefined: not known. */
  readonly hosts: HostsView | undefined;
}

/** Where endpoints come from. */
export interface SourceView {
  /** `own`: a stream of the cluster's own. */
  readonly stream: 'ads' | 'own';
  /** `DELTA_GRPC`, `GRPC`, `REST`, …; undefined: there is none. */
  readonly apiType: string | undefined;
  /** The name of {@link ControlPlaneView}; undefined: it is not known how it is reached. */
  readonly controlPlane: string | undefined;
  readonly initialFetchTimeout: Setting<number>;
}

export interface BalancingView {
  /** `LEAST_REQUEST`, `ROUND_ROBIN`, or what else it is called. */
  readonly policy: string;
  /** The exponent of active requests under LEAST_REQUEST. */
  readonly bias: Setting<number>;
  readonly slowStart: boolean;
  readonly localityWeighted: boolean;
  /** Of requests that zone aware routing is for, percent. */
  readonly zoneRouting: Setting<number>;
  readonly subsets: boolean;
  /** Set by `load_balancing_policy`, not by `lb_policy`. */
  readonly extension: boolean;
}

/** Thresholds of the circuit breakers for the default priority. */
export interface LimitsView {
  readonly max_connections: Setting<number>;
  readonly max_pending_requests: Setting<number>;
  readonly max_requests: Setting<number>;
  readonly max_retries: Setting<number>;
  /** Retries are bounded by a share instead. */
  readonly hasRetryBudget: boolean;
}

export interface OutlierView {
  readonly maxEjectionPercent: Setting<number>;
  readonly consecutive5xx: Setting<number>;
  readonly enforcingConsecutive5xx: Setting<number>;
  readonly consecutiveGatewayFailure: Setting<number>;
  readonly enforcingConsecutiveGatewayFailure: Setting<number>;
  readonly enforcingSuccessRate: Setting<number>;
}

/** Active health checks. */
export interface ChecksView {
  /** While no requests go to the cluster; the longest of all checks. */
  readonly noTrafficInterval: Setting<number>;
  readonly interval: Setting<number>;
  readonly ignoredOnRemoval: boolean;
}

/** How many endpoints there are. */
export interface HostsView {
  readonly total: number;
  /** Take requests. */
  readonly healthy: number;
  /** As the control plane says. */
  readonly unhealthy: number;
  readonly draining: number;
  /** Left out by Envoy itself: by outlier detection, by its own health checks. */
  readonly ejected: number;
  readonly failedCheck: number;
}

/** How a control plane is reached. */
export interface ControlPlaneView {
  /** By one of Envoy's clusters, or by the gRPC library that is built into it. */
  readonly client: 'cluster' | 'google_grpc';
  /** The cluster's, or the `stat_prefix`. */
  readonly name: string;
  /** `ADDRESS:PORT`, as far as they stand in the configuration. */
  readonly addresses: readonly string[];
  /** All of them are on this machine. */
  readonly loopback: boolean;
  readonly http2: boolean;
  readonly keepalive: boolean;
  readonly tls: { readonly hasAuthority: boolean; readonly hasName: boolean } | undefined;
  /** Over ADS; undefined: nothing comes over ADS from here. */
  readonly ads: StreamView | undefined;
  /** Streams of single clusters. */
  readonly own: readonly StreamView[];
}

export interface StreamView {
  /** undefined: the aggregated one. */
  readonly cluster: string | undefined;
  /** What stands before `connected_state` in the name of that stat. */
  readonly statPrefix: string;
  readonly retryMaxInterval: Setting<number>;
  /** null: it cannot be set. */
  readonly hasRetryBackOff: boolean | null;
}

/** An HTTP connection manager of a listener. */
export interface ManagerView {
  readonly listener: string;
  readonly streamIdleTimeout: Setting<number>;
  readonly maxStreamDuration: Setting<number>;
  readonly mappers: readonly MapperView[];
  /** undefined: sessions do not return to their backend. */
  readonly sessions: { readonly strict: boolean } | undefined;
  /** undefined: not known here, for instance scoped ones. */
  readonly routes: readonly RouteView[] | undefined;
}

/** A mapper of local replies. */
export interface MapperView {
  /** Which replies with status 503 it is for: by flag, yes, no, or null where that cannot be told. */
  readonly takes: (flag: string) => boolean | null;
  readonly status: Setting<number>;
  readonly hasBody: boolean;
  readonly hasRetryAfter: boolean;
}

export interface RouteView {
  /** In words. */
  readonly name: string;
  /** The clusters that it leads to. */
  readonly clusters: readonly string[];
  readonly timeout: Setting<number>;
  /** In place of the connection manager's `stream_idle_timeout`. */
  readonly idleTimeout: Setting<number>;
  readonly maxStreamDuration: Setting<number>;
  readonly retries: RetryView | undefined;
}

export interface RetryView {
  readonly on: readonly string[];
  readonly avoidsTriedHosts: boolean;
  readonly perTryTimeout: Setting<number>;
  readonly perTryIdleTimeout: Setting<number>;
}

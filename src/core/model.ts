/**
 * The values that stages hand to each other. Formats stop at the door: YAML in `config`, Prometheus text in
 * `collect`, protobuf in `xds`; in between there are only these.
 *
 * Times named `…Ms` are monotonic milliseconds from the process' clock unless they say otherwise.
 */

// ---------------------------------------------------------------- backends

/** `10.0.3.11:8000`, `[2001:db8::1]:8000`: address and port, an IPv6 address in brackets. Unique in a server group. */
export type BackendId = string;

export interface Backend {
  readonly id: BackendId;
  /** An IP literal in canonical form, IPv6 without brackets. */
  readonly address: string;
  /** 1..65535 */
  readonly port: number;
  /** Configured weight, integer 0..100. 0: polled and shown, takes no traffic. */
  readonly weight: number;
}

// ---------------------------------------------------------------- configuration, defaults filled in

export type ScorerName = 'TotalQueuedRequests' | 'KVCacheUtilization' | 'RunningRequests';
export type PolicyName = 'Adaptive' | 'Linear';
export type EnvoyLbPolicy = 'LeastRequest' | 'RoundRobin';
export type OnCollectFailure = 'Keep' | 'Remove';

/** How one backend's metrics page is fetched. Groups with equal settings share one poll per backend. */
export interface CollectSettings {
  /** The longest one collection may take, integer 1..300 s. */
  readonly timeoutSeconds: number;
  /** The time between collections, integer 1..50 s. */
  readonly intervalSeconds: number;
  /** The Host header; undefined: the backend's address and port. */
  readonly host: string | undefined;
  /** Starts with `/`, no space. */
  readonly path: string;
  readonly method: 'GET' | 'POST';
}

export interface Scorer {
  readonly name: ScorerName;
  /** Integer 0..100. */
  readonly weight: number;
}

/** A mark is set above `mark` and cleared at or below `clear`; `clear` < `mark`. */
export interface MarkSettings {
  readonly mark: number;
  readonly clear: number;
}

export interface SaturationSettings {
  readonly totalQueuedRequests: MarkSettings;
  /** Marked at or above, 0..1. */
  readonly kvCacheUtilization: { readonly mark: number };
  readonly runningRequests: MarkSettings | undefined;
}

/** The part of a load-aware configuration that turns samples into weights. */
export interface BalanceSettings {
  /** At least one, no name twice, not all weights 0. */
  readonly scorers: readonly Scorer[];
  readonly policy: PolicyName;
  /** undefined: `Saturation: false`. */
  readonly saturation: SaturationSettings | undefined;
  readonly onCollectFailure: OnCollectFailure;
}

export interface LoadAwareSettings {
  readonly collect: CollectSettings;
  readonly balance: BalanceSettings;
}

export interface ServerGroup {
  /** 1..256 printable characters without space; the EDS resource name. */
  readonly name: string;
  readonly envoyLbPolicy: EnvoyLbPolicy;
  /** Seconds in the `retry-after` header of the 503 answered when no upstream is available. */
  readonly retryAfterSeconds: number;
  readonly servers: readonly Backend[];
  /** undefined: plain weighted round robin by the configured weights. */
  readonly loadAware: LoadAwareSettings | undefined;
}

export interface Listener {
  readonly name: string;
  /** An IP literal. */
  readonly address: string;
  readonly port: number;
  readonly serverGroup: string;
}

/** HOST:PORT to listen on; the host is an IP literal, IPv6 without brackets here. Port 0: the kernel's choice. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** What the xDS server takes from its clients; what goes beyond is refused. All integers of at least 1, seconds above 0. */
export interface XdsLimits {
  /** Open streams; also the most connections. */
  readonly streams: number;
  /** Open streams of one client, its connections, and how many it may open in a second. */
  readonly streamsPerIdentity: number;
  readonly streamsPerConnection: number;
  /** Names that a stream asks for and that do not exist, per type. */
  readonly names: number;
  /** Characters of a name, a node id or a version. */
  readonly nameLength: number;
  readonly messageBytes: number;
  /** Of one stream. */
  readonly requestsPerSecond: number;
  /** Of all clients. */
  readonly newStreamsPerSecond: number;
  /** How long a client may leave a response unread. */
  readonly readSeconds: number;
  /** How long a client may leave a response unanswered before it gets the next one regardless. */
  readonly ackSeconds: number;
}

export interface XdsKeepalive {
  /** Time between pings, seconds. */
  readonly intervalSeconds: number;
  /** A client that has not answered a ping by then is gone, seconds. */
  readonly timeoutSeconds: number;
}

/** Files in PEM, by their paths. They are read again when they change. */
export interface TlsFiles {
  /** The server's certificate, followed by the intermediate ones. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Authorities that client certificates must come from; undefined: clients need none. */
  readonly clientCaFile: string | undefined;
}

/** Clients with this identity may see these server groups. What several rules for one client allow adds up. */
export interface AuthorizationRule {
  /** A name of the client's certificate: a URI, which may end in `/*`, or a DNS name; `*`: any verified client. */
  readonly identity: string;
  readonly serverGroups: 'all' | readonly string[];
}

/** The effective configuration of one file: every default filled in, every reference resolved. */
export interface Configuration {
  readonly xds: {
    readonly listen: ListenAddress;
    readonly drainSeconds: number;
    /** undefined: plain text. */
    readonly tls: TlsFiles | undefined;
    /** undefined: every client that may connect may see every server group. */
    readonly authorization: readonly AuthorizationRule[] | undefined;
    readonly limits: XdsLimits;
    readonly keepalive: XdsKeepalive;
    /** After about this time a connection is closed, so that clients spread anew; undefined: never. */
    readonly maxConnectionAgeSeconds: number | undefined;
  };
  readonly admin: { readonly listen: ListenAddress };
  readonly log: { readonly level: LogLevel; readonly format: 'auto' | 'json' | 'pretty' };
  readonly serverGroups: readonly ServerGroup[];
  readonly listeners: readonly Listener[];
}

// ---------------------------------------------------------------- collection

/** The load of one backend at one moment, summed over its series. Every number is finite and at least 0. */
export interface Sample {
  /** Queued requests. undefined: the engine has no such metric. */
  readonly queued: number | undefined;
  /** Running requests. undefined: the engine has no such metric. */
  readonly running: number | undefined;
  /** KV cache utilisation, 0..1. undefined: the engine has no such metric. */
  readonly kvUtilization: number | undefined;
  /** Counter of finished requests. undefined: the engine has no such metric. */
  readonly finished: number | undefined;
  /** Sum (seconds) and count of the engine's end-to-end latency histogram; counters. */
  readonly latency: { readonly sumSeconds: number; readonly count: number } | undefined;
}

/** Why a collection gave no sample. `kind` is a bounded set: it becomes a metric label. */
export interface CollectFailure {
  readonly kind: CollectFailureKind;
  /** For people: bounded length, printable, with the value that was wrong (`status 500`, `vllm:num_requests_waiting is NaN`). */
  readonly message: string;
}

export type CollectFailureKind =
  | 'refused'
  | 'unreachable'
  | 'reset'
  | 'timeout'
  | 'status'
  | 'not_metrics'
  | 'metric_absent'
  | 'not_a_number'
  | 'too_large'
  | 'protocol'
  | 'internal';

/** What one collection of one backend ended in. */
export type CollectOutcome =
  | {
      readonly kind: 'sample';
      readonly sample: Sample;
      /** When the answer was complete. */
      readonly atMs: number;
      readonly durationMs: number;
      readonly bytes: number;
    }
  | {
      readonly kind: 'failure';
      readonly failure: CollectFailure;
      readonly atMs: number;
      readonly durationMs: number;
    };

/** One run of a collection loop: what arrived since the previous run's end, late answers of earlier runs included. */
export interface CollectRun {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** A backend that is absent here has not answered yet. */
  readonly outcomes: ReadonlyMap<BackendId, CollectOutcome>;
}

// ---------------------------------------------------------------- what is published

export type EndpointHealth = 'HEALTHY' | 'UNHEALTHY' | 'DRAINING';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** Integer of at least 1; the sum over an assignment stays below 2^32 - 1. */
  readonly weight: number;
  readonly health: EndpointHealth;
}

/** What the sidecars of one server group are told. Endpoints are sorted by address, then port; no address twice. */
export interface Assignment {
  readonly serverGroup: string;
  readonly endpoints: readonly Endpoint[];
}

// ---------------------------------------------------------------- decisions of the core

/** Which sample step 2 of the rule used for a backend, and so why. */
export type SampleUse =
  /** Arrived after the previous evaluation. */
  | 'fresh'
  /** The first miss: the last sample stands in. */
  | 'last'
  /** Connection refused, or missed while most answer: the worst of the fresh. */
  | 'worst'
  /** Never sampled, or too much is missing to blame this one: the means. */
  | 'mean'
  /** The gauges stand still while they should move: a trickle of traffic. */
  | 'frozen'
  /** Configured weight 0: polled and shown, not published. */
  | 'aside'
  /** `OnCollectFailure: Remove`: out of the assignment until it answers. */
  | 'removed'
  /** No sample was used: what is published stands, or the configured weight counts. */
  | 'none';

export interface BackendDecision {
  readonly backend: Backend;
  /** The last sample that arrived, whatever its age. */
  readonly sample: Sample | undefined;
  readonly sampleAgeMs: number | undefined;
  readonly use: SampleUse;
  /** Evaluations since the last fresh sample. */
  readonly missed: number;
  /** The reason of the latest collection, if that failed. */
  readonly failure: CollectFailure | undefined;
  /**
   * Linear score, 0..100; the best in every signal has 100. undefined where no load was compared. Shown under either
   * policy.
   */
  readonly score: number | undefined;
  /** e_i of the rule: above 0 is lighter than the mean. 0 where the policy does not use it. */
  readonly deviation: number;
  /** Learned capacity, 0.2..3; 1 where the policy does not learn. */
  readonly capacity: number;
  /**
   * The weight that this evaluation came to, undithered, over the mean of those in the assignment. `weight` follows it
   * only when the decision is published.
   */
  readonly relativeWeight: number;
  /** Limit set by slow start as a fraction 0.1..1; undefined when not in slow start. */
  readonly slowStart: number | undefined;
  /** UNHEALTHY because its load is above the mark. */
  readonly saturated: boolean;
  /** Its gauges stand still while they should move. */
  readonly frozen: boolean;
  /** undefined: not in the assignment. */
  readonly health: EndpointHealth | undefined;
  /** The published integer weight; 0: not in the assignment. */
  readonly weight: number;
  /** Expected share of new requests, 0..1: the weight among the HEALTHY ones. */
  readonly share: number;
  /** What shaped this decision, for people, in the order of the rule. May be made when read: no own property. */
  readonly reasons: readonly string[];
}

/** Where a group's weights come from. */
export type GroupMode =
  /** Weights follow the load. */
  | 'balanced'
  /** No sample for a while: the last assignment stands. */
  | 'kept'
  /** No usable sample for longer, or no metric that a scorer could weigh: configured weights. */
  | 'configured';

export type PublishReason =
  | 'first'
  /** A backend came or left. */
  | 'membership'
  | 'health'
  /** A configured weight is another one. */
  | 'configuration'
  /** The shares among the healthy moved far enough. */
  | 'shares';

export interface GroupDecision {
  readonly serverGroup: string;
  readonly atMs: number;
  /** Start of the collection that this decision rests on; undefined: none. */
  readonly collectionStartedAtMs: number | undefined;
  readonly mode: GroupMode;
  /** g of the rule; 0 where weights do not follow the load. */
  readonly gain: number;
  /** R of the rule, seconds. */
  readonly staySeconds: number;
  /** d of the rule, seconds. */
  readonly delaySeconds: number;
  /** Every backend of the group, in the group's order. */
  readonly backends: readonly BackendDecision[];
  /** What sidecars should have from here on: the last published one where `publish` is undefined. */
  readonly assignment: Assignment;
  /** Why the assignment should go out now; undefined: the last published one stands. */
  readonly publish: PublishReason | undefined;
  /** Things an operator should know, in words. */
  readonly warnings: readonly string[];
}

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
  /** Where it runs, as sidecars name their own zone; undefined: nobody says. */
  readonly zone?: string | undefined;
  /** It leaves: what it has begun it ends, and new requests go elsewhere. */
  readonly draining?: boolean | undefined;
  /** Its metrics page where that is not as the group's settings say; undefined: it is. */
  readonly metrics?: MetricsAddress | undefined;
}

/** What a backend says itself of its metrics page. */
export interface MetricsAddress {
  /** 1..65535 */
  readonly port?: number | undefined;
  /** Starts with `/`, no space. */
  readonly path?: string | undefined;
}

/** Where the backends of a group come from when the file does not list them. */
export type DiscoverySettings = DnsDiscovery | FileDiscovery | KubernetesDiscovery;

export interface DnsDiscovery {
  readonly kind: 'Dns';
  /** A domain name. */
  readonly name: string;
  /** A: A and AAAA records, all at `port`. SRV: port and weight come from the records. */
  readonly type: 'A' | 'SRV';
  /** 1..65535; undefined with SRV. */
  readonly port: number | undefined;
  /** `IP:PORT` of the servers to ask, in this order; empty: those of the system. */
  readonly resolvers: readonly string[];
}

export interface FileDiscovery {
  readonly kind: 'File';
  readonly path: string;
  readonly format: 'Plimsoll' | 'PrometheusSd';
}

export interface KubernetesDiscovery {
  readonly kind: 'Kubernetes';
  readonly namespace: string;
  readonly target: KubernetesTarget;
  /** undefined: the service account of the pod; outside a cluster what kubectl uses. */
  readonly kubeconfigFile: string | undefined;
}

export type KubernetesTarget =
  /** EndpointSlices of a Service. `portName` undefined: its only port. */
  | { readonly kind: 'Service'; readonly service: string; readonly portName: string | undefined }
  /** Pods by their labels, in the syntax of kubectl. */
  | { readonly kind: 'Pods'; readonly selector: string; readonly port: number }
  /** Gateway API inference extension: one backend for each pod and target port. */
  | { readonly kind: 'InferencePool'; readonly name: string };

/** Where the backends of a group come from, and how it stands with that. */
export interface DiscoveryStatus {
  /** In words; undefined: the configuration lists them. */
  readonly source: string | undefined;
  /** When the source last told a complete list, and how many backends it had; undefined: it never did. */
  readonly list: { readonly atMs: number; readonly backends: number } | undefined;
  /** Why the source cannot be read and since when, or its list not be used; undefined: all is well. */
  readonly failure: { readonly reason: string; readonly sinceMs: number } | undefined;
  /** Why the group has no backends to go by yet; undefined: it has. */
  readonly waiting: string | undefined;
  /** What the source has and cannot be used, in words. */
  readonly leftOut: readonly string[];
  /** Those that the source does not tell any more, which is not believed yet. */
  readonly doubted: readonly BackendDeparture[];
  readonly draining: readonly BackendDeparture[];
}

export interface BackendDeparture {
  readonly id: BackendId;
  /** When it goes; undefined: not before the source says more. */
  readonly atMs: number | undefined;
}

/** Envoy's active health check in the clusters that we generate. */
export interface HealthCheckSettings {
  /** Starts with `/`, no space. */
  readonly path: string;
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
  /** Failures in a row that put a backend out, and successes that bring it back. */
  readonly unhealthyThreshold: number;
  readonly healthyThreshold: number;
}

// ---------------------------------------------------------------- configuration, defaults filled in

export type ScorerName = 'TotalQueuedRequests' | 'KVCacheUtilization' | 'RunningRequests';
export type PolicyName = 'Adaptive' | 'Linear';
export type EnvoyLbPolicy = 'LeastRequest' | 'RoundRobin';
export type OnCollectFailure = 'Keep' | 'Remove';
export type AdmissionPolicy = 'Proportional' | 'None';
/** Observe: all is computed and shown, but sidecars get the configured weights, all healthy, and refuse nothing. */
export type ServerGroupMode = 'Active' | 'Observe';

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
  /** Of the metrics page; undefined: the backend's own. */
  readonly port: number | undefined;
  readonly scheme: 'http' | 'https';
  /** Sent beside our own, in this order; no name twice. */
  readonly headers: readonly CollectHeader[];
  /** What is in this file is sent as `Authorization: Bearer …`. */
  readonly bearerTokenFile: string | undefined;
  /** Only with `https`; undefined: the authorities that Node brings along, no client certificate. */
  readonly tls: CollectTls | undefined;
  readonly engine: EngineName | 'Auto';
  /** Whether just the families that are needed are asked for, where an exporter can do that. */
  readonly leanScrape: boolean;
  readonly metrics: MetricOverrides;
}

/** A header of a collection: exactly one of `value` and `file`, whose content is the value. Values are secret. */
export interface CollectHeader {
  readonly name: string;
  readonly value: string | undefined;
  readonly file: string | undefined;
}

/** How backends are known, and what we show them. Files in PEM, by their paths; they are read again when they change. */
export interface CollectTls {
  /** Authorities that the certificates of backends must come from; undefined: those that Node brings along. */
  readonly caFile: string | undefined;
  /** The name that the certificate must have; undefined: that of the Host header, else the backend's address. */
  readonly serverName: string | undefined;
  /** Our certificate, followed by the intermediate ones; both or none of this and `keyFile`. */
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Whether any certificate is taken. */
  readonly insecureSkipVerify: boolean;
}

export type EngineName =
  | 'Vllm'
  | 'SgLang'
  | 'TrtLlm'
  | 'Triton'
  | 'Tgi'
  | 'LlamaCpp'
  | 'LmDeploy'
  | 'Nim'
  | 'MindIe'
  | 'RayServe'
  | 'Dynamo';

/** A metric in place of the engine's own; only series with these labels count. */
export interface MetricOverride {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What is read instead of the engine's own metrics. */
export interface MetricOverrides {
  readonly TotalQueuedRequests?: MetricOverride | undefined;
  readonly KVCacheUtilization?: MetricOverride | undefined;
  readonly RunningRequests?: MetricOverride | undefined;
  /** The counter of finished requests. */
  readonly finished?: MetricOverride | undefined;
  /** Only series with these labels count, of every metric. */
  readonly labels: Readonly<Record<string, string>>;
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
  /** Whether sidecars refuse a share of the requests beforehand when all backends together have too much. */
  readonly admission: AdmissionPolicy;
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
  /** Observe only with load-aware settings. */
  readonly mode: ServerGroupMode;
  readonly envoyLbPolicy: EnvoyLbPolicy;
  /** Seconds in the `retry-after` header of the 503 answered when no upstream is available. */
  readonly retryAfterSeconds: number;
  /** Whether a sidecar leaves a backend out for a while that fails request after request. */
  readonly outlierDetection: boolean;
  /** undefined: none. */
  readonly healthCheck?: HealthCheckSettings | undefined;
  /** Istio: endpoints carry what its sidecars need to speak mTLS to each other. Default: None. */
  readonly mesh?: 'None' | 'Istio' | undefined;
  /** Prefer: sidecars keep to the backends of their own zone while these are not busier than the others. Default: None. */
  readonly locality?: 'None' | 'Prefer' | undefined;
  /** Whether found addresses may be of this link only. Default: false. */
  readonly allowLinkLocal?: boolean | undefined;
  /** How long a backend that left is published as draining, s. Default: 30. */
  readonly drainSeconds?: number | undefined;
  /** undefined: `servers` are all there are. Otherwise they are those that were found last. */
  readonly discovery?: DiscoverySettings | undefined;
  readonly servers: readonly Backend[];
  /** Whether one of them is in another group too, whose requests come there by other shares. Default: false. */
  readonly sharesBackends?: boolean | undefined;
  /** undefined: plain weighted round robin by the configured weights. */
  readonly loadAware: LoadAwareSettings | undefined;
}

export interface Listener {
  readonly name: string;
  /** An IP literal. */
  readonly address: string;
  readonly port: number;
  readonly serverGroup: string;
  /** Clients that send this header back keep to their backend; undefined: every request goes by weight. */
  readonly affinityHeader?: string | undefined;
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

/** The address for operators, and who may read there. */
export interface AdminSettings {
  readonly listen: ListenAddress;
  /** Files in PEM, by their paths, read again when they change; undefined: plain text. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** A file with the token that everything but health and readiness asks for; undefined: nothing is asked for. */
  readonly bearerTokenFile: string | undefined;
  /** Names, in lower case, that requests may come in under besides `localhost` and IP addresses. */
  readonly hosts: readonly string[];
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
  readonly admin: AdminSettings;
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
  | 'tls'
  | 'credentials'
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
      /** Whose page it was; undefined: of none that is known. */
      readonly engine: EngineName | undefined;
      /** When the answer was complete. */
      readonly atMs: number;
      readonly durationMs: number;
      readonly bytes: number;
    }
  /** The engine says that it sleeps. */
  | { readonly kind: 'asleep'; readonly atMs: number; readonly durationMs: number; readonly bytes: number }
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
  /** undefined: not known; they share one locality without a name. */
  readonly zone?: string | undefined;
}

/** What the sidecars of one server group are told. Endpoints are sorted by address, then port; no address twice. */
export interface Assignment {
  readonly serverGroup: string;
  readonly endpoints: readonly Endpoint[];
  /** The share of requests that every sidecar refuses by itself, before it balances the others: 0..0.95, in thousandths. */
  readonly dropShare: number;
  /** Endpoints carry what this mesh's sidecars need to speak mTLS to them. */
  readonly mesh?: 'Istio' | undefined;
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
  /** Its engine sleeps: polled and shown, not published. */
  | 'asleep'
  /** It leaves: polled and shown, published as DRAINING. */
  | 'draining'
  /** `OnCollectFailure: Remove`: out of the assignment until it answers. */
  | 'removed'
  /** No sample was used: what is published stands, or the configured weight counts. */
  | 'none';

/**
 * What a backend took of late, by its own metrics, beside what that of the others makes expect. Sums fade together, so
 * that they are of some 60 requests of each backend, but of a minute (or four intervals) at least and 200 s at most.
 */
export interface Intake {
  /** How far the gauges are believed, 0..1: what they show below the mean counts so much. */
  readonly trust: number;
  /** Requests that came: what finished, and what its gauges rose by. */
  readonly arrived: number;
  /** Requests that its published share brings, by those that came to the others. */
  readonly expected: number;
  readonly finished: number;
  /** Request-seconds spent running. */
  readonly runningSeconds: number;
  /** The same of the others for each request that they finished; NaN: they have finished none. */
  readonly secondsPerRequest: number;
}

/** What made a backend count as saturated. */
export interface MarkCause {
  /** Whose mark was passed. */
  readonly metric: ScorerName;
  /** Its value then: requests; KV cache: 0..1. */
  readonly value: number;
  readonly mark: number;
  /** Queued requests then. A full KV cache is a cause only while more are queued than would clear the mark. */
  readonly queued: number;
  readonly atMs: number;
}

/** One scorer: what the load of all was compared to. Requests are per unit of configured share. */
export interface SignalBasis {
  readonly name: ScorerName;
  /** Its part of the scorer weights that count, 0..1. */
  readonly part: number;
  /** Over the backends whose own sample counts. */
  readonly mean: number;
  /** Adaptive: the difference that counts as one. */
  readonly scale: number;
  /** Linear: the lightest value, whose score is 100, and how much more it takes to have 0. */
  readonly least: number;
  readonly spread: number;
}

/** How the gain came about: the smaller one of `feedback` and `limit`. */
export interface GainBasis {
  readonly intervalSeconds: number;
  readonly delaySeconds: number;
  /** L of the rule: how much older the gauges are than the answers that they came in, in whole intervals; counts twice. */
  readonly lagSeconds: number;
  readonly staySeconds: number;
  /** A of the rule: the part of the requests seen that are still there when the weights are in force. */
  readonly remaining: number;
  /** γ of the rule. */
  readonly trust: number;
  /** γ·A/(1 - A) */
  readonly feedback: number;
  /** n̄ of the rule: mean requests inside, per unit of configured share. */
  readonly meanInside: number;
  readonly limit: number;
}

/**
 * What speeds follow from. That of a backend is (x / `typical`) ^ `exponent` / `meanPower`, 0.2..3, with
 * x = (finished + 20) / (runningSeconds / `secondsPerRequest` + 20). Sums fade with a time constant of a minute, or six
 * intervals where that is longer.
 */
export interface SpeedBasis {
  /**
   * How many are compared: those that take traffic and have the counter of finished requests and the gauge of running,
   * but for those that are doubted and seem faster than all.
   */
  readonly backends: number;
  readonly finished: number;
  /** Request-seconds spent running. */
  readonly runningSeconds: number;
  /** Their quotient. */
  readonly secondsPerRequest: number;
  /** Geometric mean of x. */
  readonly typical: number;
  /** The part of the spread of ln x that chance does not explain, 0..1. */
  readonly exponent: number;
  /** Mean of (x / `typical`) ^ `exponent`. */
  readonly meanPower: number;
}

/** What the weights of a group were computed from. */
export interface GroupBasis {
  /** undefined: the group has no load-aware extension. */
  readonly policy: PolicyName | undefined;
  readonly envoyLbPolicy: EnvoyLbPolicy;
  readonly saturation: SaturationSettings | undefined;
  /** The scorers that count; empty: no load was compared. */
  readonly signals: readonly SignalBasis[];
  /** undefined: no load was compared. */
  readonly gain: GainBasis | undefined;
  /** Adaptive; undefined: all speeds are 1. */
  readonly speed: SpeedBasis | undefined;
  /** Adaptive: mean of residual · speed over those that take traffic; else 1. */
  readonly meanCapacity: number;
  /** Linear: mean score of the backends whose own sample counts, 0..100. */
  readonly meanScore: number | undefined;
  /** Bounds of what the load makes of a weight. */
  readonly loadFactorBounds: { readonly least: number; readonly most: number } | undefined;
  /** Mean of {@link WeightBasis.weight} over the assignment; 0: it is empty. */
  readonly meanWeight: number;
  /** S of the rule: the integer weight of a backend of mean weight, before the dither. */
  readonly scale: number;
}

/** A backend's value of one signal of the group. */
export interface SignalValue {
  readonly name: ScorerName;
  /** Requests per unit of configured share; KV cache: 0..1. Put in by the rule where the backend's own does not count. */
  readonly value: number;
  /** Its part of the deviation: part · (mean - value) / scale. */
  readonly deviation: number;
  /** Linear score of this signal, 0..100. */
  readonly score: number;
}

/**
 * What a weight was computed from. `weight` is `kept`, or else configuredShare · capacity · loadFactor, at most
 * `slowStart.most` and `trickle.most`. Over the mean and times the scale that is the published weight without dither.
 */
export interface WeightBasis {
  /** c of the rule: configured weight over the mean of those that take traffic. */
  readonly configuredShare: number;
  /** In the order of the group's signals; empty: this backend's load was not compared. */
  readonly signals: readonly SignalValue[];
  /** The learned capacity as far as the weight uses it: residual · speed over the group's mean, 0.2..3; else 1. */
  readonly capacity: number;
  readonly residual: number;
  readonly speed: number;
  /** What the speed comes from; undefined: this backend is not compared. */
  readonly pace: { readonly finished: number; readonly runningSeconds: number } | undefined;
  /** How far its gauges are believed, and why; undefined: its engine lacks the counter or the gauge that tells it. */
  readonly intake: Intake | undefined;
  /** What the load makes of the weight, before and after its bounds; 1 where it is not weighed. */
  readonly unboundedLoadFactor: number;
  readonly loadFactor: number;
  /** The weight as last published, where that stands because nobody answers. */
  readonly kept: number | undefined;
  /** `most` is configuredShare · mean weight per share of those past slow start · limit; undefined: none such. */
  readonly slowStart:
    | {
        readonly ageMs: number;
        readonly limit: number;
        readonly measure: number | undefined;
        readonly most: number | undefined;
      }
    | undefined;
  readonly trickle: { readonly steadyMs: number; readonly most: number } | undefined;
  /** w of the rule; 0: not in the assignment. */
  readonly weight: number;
  /** The integer weight before the dither, not rounded. */
  readonly unditheredWeight: number;
}

export interface BackendDecision {
  readonly backend: Backend;
  /** The last sample that arrived, whatever its age. */
  readonly sample: Sample | undefined;
  readonly sampleAgeMs: number | undefined;
  /** The engine that it is of; undefined: of none that is known. */
  readonly engine: EngineName | undefined;
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
  /** What set its mark, also where that keeps it from nothing; undefined: it has none. No own property. */
  readonly markCause: MarkCause | undefined;
  /** Its gauges stand still while they should move. */
  readonly frozen: boolean;
  /** Its gauges show less than it takes: they are believed next to nothing. */
  readonly doubted: boolean;
  /** undefined: not in the assignment. */
  readonly health: EndpointHealth | undefined;
  /** The published integer weight, or the one that is only computed, where the group is observed; 0: not in the assignment. */
  readonly weight: number;
  /** Expected share of new requests, 0..1: the weight among the HEALTHY ones. */
  readonly share: number;
  /** What shaped this decision, for people, in the order of the rule. May be made when read: no own property. */
  readonly reasons: readonly string[];
  /** What `relativeWeight` was computed from. May be made when read: no own property. */
  readonly basis: WeightBasis;
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
  /** A configured weight, or the mode of the group, is another one. */
  | 'configuration'
  /** The share that sidecars refuse is another one. */
  | 'admission'
  /** The shares among the healthy moved far enough. */
  | 'shares';

/** What the refused share follows from. All of one evaluation, so that it can be worked out again. */
export interface AdmissionFigures {
  /** N of the rule: backends with a fresh sample that counts. */
  readonly backends: number;
  /** How many of them are above their mark. */
  readonly marked: number;
  /** Of an even number the lower one of the two in the middle. */
  readonly medianQueued: number;
  /** A queue far above the median counts as 10 + 3 medians. */
  readonly meanQueued: number;
  /** mu of the rule: requests that a backend finishes per second when it is busy; at least what it finished over the last 10 s, and 0.5. */
  readonly finishedPerSecond: number;
  /** `meanQueued` over `finishedPerSecond`: how long a new request waits for its turn. */
  readonly waitSeconds: number;
  /** Twice `medianQueued` over `finishedPerSecond`. */
  readonly medianWaitSeconds: number;
  /** Shedding begins when both waits are above this, or more than half of the backends above their mark. */
  readonly engagedAboveSeconds: number;
  /** The wait that is aimed at while shedding. */
  readonly targetSeconds: number;
}

/**
 * One step of the controller, with x = `waitSeconds` over the target and tau = `timeConstantSeconds`: `integral` is
 * `previous` · `kept` + min(0.45 · `elapsedSeconds` / tau² · (x - 1), 0.085 · `elapsedSeconds`), and the share `integral`
 * + 0.6 / tau · (x - 1), both within 0 and 0.95.
 */
export interface AdmissionControl {
  /** The wait that counts: of the figures the first, or where half of the backends have had next to no queue for long the smaller one. */
  readonly waitSeconds: number;
  /** Since the previous evaluation; the interval where that is half of it or more. */
  readonly elapsedSeconds: number;
  readonly timeConstantSeconds: number;
  /** For how long next to nothing has queued. From 3 s on `kept` is less than 1. */
  readonly calmSeconds: number;
  /** What is left of `previous`, 0..1. */
  readonly kept: number;
  readonly previous: number;
  readonly integral: number;
}

/** What a share that is refused comes from. */
export type SheddingBasis =
  | { readonly kind: 'measured'; readonly figures: AdmissionFigures; readonly control: AdmissionControl }
  /** No sample of this evaluation counts: it is as before. */
  | { readonly kind: 'standing' }
  /** Most backends are above their marks, and what they can do is not known yet. */
  | { readonly kind: 'unmeasured' };

/** Whether sidecars refuse a share of the requests, and why. */
export type AdmissionDecision =
  /** Not configured, or not for a group without a load-aware extension. */
  | { readonly kind: 'disabled' }
  /** Nothing to go by: only the marks protect the backends. */
  | { readonly kind: 'unavailable'; readonly reason: string }
  /** Ready to. `figures` undefined: no sample of this evaluation counts, or nothing has queued yet. */
  | { readonly kind: 'off'; readonly figures: AdmissionFigures | undefined }
  /**
   * `share` 0..0.95, as computed; what is published may be up to 0.005 away. `sparedUpTo`: queue up to which a backend
   * above its mark is not kept from requests; undefined: marks count as they are.
   */
  | {
      readonly kind: 'shedding';
      readonly share: number;
      readonly sparedUpTo: number | undefined;
      readonly basis: SheddingBasis;
    };

/**
 * What the sidecars of one zone are told under `Locality: Prefer`, and what it follows from. `overflow` is
 * 1 - `available` · (1 - asked), with asked = `integral` + `gain` · (`excess` - 0.1), 0..1; but 1 where `plain`, and at
 * least 0.01. While what is published stands, so does the overflow.
 */
export interface ZoneDecision {
  readonly zone: string;
  /** How many of its backends are in the assignment. */
  readonly backends: number;
  /** How much busier than the whole group it is, in units of the deviation; undefined: no sample of its backends counts. */
  readonly excess: number | undefined;
  /** The part of what it is configured for that takes requests now, 0..1. */
  readonly available: number;
  /** What one difference of load moves at once, 0..1. */
  readonly gain: number;
  /** What differences have added up to, 0..1. */
  readonly integral: number;
  /** Of the requests that plain balancing would send to other zones, the part that goes there: 0.01..1. */
  readonly overflow: number;
  /** Whether it is balanced as if there were no zones: no load is compared, or a share is refused. */
  readonly plain: boolean;
  /** What the weights of other zones are multiplied by, at most 1. */
  readonly factor: number;
  /** The share of new requests that stays in the zone, by the weights; 0: it has no healthy backend. */
  readonly homeShare: number;
  /** What its sidecars should have from here on: the last published one where the decision has no reason to publish. */
  readonly assignment: Assignment;
}

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
  readonly admission: AdmissionDecision;
  /**
   * `Mode: Observe`. Then backends, admission, basis and `computed` tell what sidecars would be told, and `assignment`
   * has the configured weights.
   */
  readonly observing: boolean;
  /** What the rule came to. The same as `assignment` but for a group that is observed. */
  readonly computed: Assignment;
  /** What sidecars should have from here on: the last published one where `publish` is undefined. */
  readonly assignment: Assignment;
  /**
   * What sidecars of these zones should have instead, in the order of the names; undefined: nobody prefers a zone.
   * `assignment` is for all others.
   */
  readonly zones?: readonly ZoneDecision[] | undefined;
  /** Why the assignment, or that of a zone, should go out now; undefined: what was published stands. */
  readonly publish: PublishReason | undefined;
  /** Things an operator should know, in words. */
  readonly warnings: readonly string[];
  /** What the weights were computed from. Made when read. */
  readonly basis: GroupBasis;
}

/** What the sidecars of a group were told last. */
export interface PublishedDecision {
  /** What the assignment came from. */
  readonly decision: GroupDecision;
  readonly version: string;
  /** Versions by zone, of those whose sidecars were told something else. */
  readonly zones?: ReadonlyMap<string, string> | undefined;
  /** When this version went out. */
  readonly atMs: number;
  /** undefined: no sidecar has acknowledged it. */
  readonly firstAcknowledgedAtMs: number | undefined;
}

/** Where a group stands: its newest decision, and the one that its sidecars have, which may be older. */
export interface GroupStatus {
  readonly newest: GroupDecision;
  readonly published: PublishedDecision;
  /** Sidecars' streams that have acknowledged an assignment of this group, and those of them that have the latest. */
  readonly streams: { readonly following: number; readonly current: number };
}

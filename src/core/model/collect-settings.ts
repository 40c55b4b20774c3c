/* How metrics pages are fetched and read, defaults filled in. */

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

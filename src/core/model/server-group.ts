import type { Backend } from './backend.ts';
import type { BalanceSettings } from './balance-settings.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { DiscoverySettings } from './discovery.ts';

/* A fleet of backends behind one name, defaults filled in. */

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

export type EnvoyLbPolicy = 'LeastRequest' | 'RoundRobin';

/** Observe: all is computed and shown, but sidecars get the configured weights, all healthy, and refuse nothing. */
export type ServerGroupMode = 'Active' | 'Observe';

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
  /** Whether requests of a session keep to their backend, whatever its share. Default: false. */
  readonly keepsSessions?: boolean | undefined;
  /** undefined: plain weighted round robin by the configured weights. */
  readonly loadAware: LoadAwareSettings | undefined;
}

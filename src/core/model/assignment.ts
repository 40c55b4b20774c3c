/* What is published: what sidecars are told of a group. */

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

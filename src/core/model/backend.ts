/* A server that requests go to. */

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

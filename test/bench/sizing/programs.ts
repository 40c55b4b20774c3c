export type BackendsQuestion =
  /** So many, each at an address of its own, all at one port. */
  { readonly kind: 'start'; readonly count: number } | { readonly kind: 'look' };

export interface BackendsAnswer {
  readonly port: number;
  /** Scrapes so far, and bytes of the answers. */
  readonly requests: number;
  readonly bytes: number;
}

export type SidecarsQuestion =
  | { readonly kind: 'connect'; readonly count: number; readonly port: number }
  | { readonly kind: 'look' };

export interface SidecarsAnswer {
  /** So far. */
  readonly responses: number;
  /** Sidecars that have had one. */
  readonly served: number;
  /** Streams and connections that are gone. */
  readonly ended: number;
}

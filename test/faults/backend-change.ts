/** How a backend's metrics page is answered. */
export type MetricsChange =
  | { readonly kind: 'live' | 'frozen' | 'hang' | 'html' }
  | { readonly kind: 'status'; readonly status: number }
  /** This share of the scrapes, 0..1, gets no answer. */
  | { readonly kind: 'loss'; readonly share: number }
  | { readonly kind: 'late'; readonly milliseconds: number }
  /** Gauges that have nothing to do with the load; the counters are true. */
  | { readonly kind: 'lie'; readonly as: 'zero' | 'max' | 'jumping' | 'saturated' }
  /** The page of an idle engine for ever: gauges of 0, and counters that stand still. */
  | { readonly kind: 'idle' }
  /** The page of a saturated engine, counters too, until the next request comes. */
  | { readonly kind: 'stuck' }
  /** The engine says that it sleeps. */
  | { readonly kind: 'asleep' };

/** What a backend is told; what is absent stays as it is. */
export interface BackendChange {
  readonly metrics?: MetricsChange;
  /** Factor on the duration of the engine's steps. */
  readonly slowness?: number;
  /** Every request fails at once while the metrics page tells of no load. */
  readonly failing?: boolean;
  /** Its port is closed: connections are reset, new ones refused. */
  readonly closed?: boolean;
  /** The requests inside lose their connections. */
  readonly abortAll?: true;
  /** Another model answers from now on: all its answers are foreign. */
  readonly model?: string;
}

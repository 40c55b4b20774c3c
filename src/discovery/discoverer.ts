import type { MetricsAddress } from '../core/model/backend.ts';

/** A backend as its source tells it. */
export interface Found {
  /** An IP literal in canonical form, IPv6 without brackets. */
  readonly address: string;
  /** 1..65535 */
  readonly port: number;
  /** Integer 0..100; undefined: 100. */
  readonly weight?: number | undefined;
  readonly zone?: string | undefined;
  /** The source says that it is about to go. */
  readonly draining?: boolean | undefined;
  readonly metrics?: MetricsAddress | undefined;
}

/** What a source says, whenever it says it. */
export interface DiscoveryObserver {
  /**
   * A complete list, in any order.
   * @param leftOut what the source has and cannot be used, in words: not an IP address, no port of that name
   */
  found(list: readonly Found[], leftOut: readonly string[]): void;
  /** The source cannot be read; the last list stands. Called at each attempt that fails, the reason in words. */
  failed(reason: string): void;
}

/** A source of backends. */
export interface Discoverer {
  /** Tells what is there and each change of it until the signal ends it; then it resolves. Never rejects. */
  run(observer: DiscoveryObserver, signal: AbortSignal): Promise<void>;
}

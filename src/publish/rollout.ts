import type { Resource } from './snapshot-store.ts';

/** By type URL, then by name. */
export type Resources = ReadonlyMap<string, ReadonlyMap<string, Resource>>;

/** How long the steps of a {@link Rollout} wait, milliseconds. */
export interface RolloutTimes {
  /** Until every sidecar has a new cluster with its endpoints, of which the first are held back for up to 2 s. */
  readonly followMs: number;
  /** Longer than the 10 minutes that an Envoy lets the connections of a removed listener go on. */
  readonly retireMs: number;
}

export const ROLLOUT_TIMES: RolloutTimes = { followMs: 3_000, retireMs: 15 * 60_000 };

const NONE: Resources = new Map();

/**
 * How the listeners, routes and clusters of another configuration reach the sidecars. No request may be sent to a
 * cluster that a sidecar does not have yet or any more: new clusters go out first, the listeners and routes follow when
 * the last of those that they need has been out for long enough, and a cluster ends when none has used it for long
 * enough. Each cluster has times of its own, so that configurations may come as fast as they like. A configuration
 * without anything says nothing of listeners and routes: sidecars keep theirs, and with them the clusters that they use.
 */
export class Rollout {
  readonly #clusterType: string;
  readonly #times: RolloutTimes;
  /** What is to be reached. */
  #target = NONE;
  /** Where the listeners and routes that sidecars have come from; never empty once it was not. */
  #followed = NONE;
  #served = NONE;
  /** By the name of a cluster: since when sidecars are told of it. */
  readonly #servedSinceMs = new Map<string, number>();
  /** By the name of a cluster: since when no listener uses it. */
  readonly #unusedSinceMs = new Map<string, number>();

  constructor(clusterType: string, times: RolloutTimes = ROLLOUT_TIMES) {
    this.#clusterType = clusterType;
    this.#times = times;
  }

  /** What sidecars are to have. */
  get served(): Resources {
    return this.#served;
  }

  /** Whether sidecars are told of this cluster. */
  hasCluster(name: string): boolean {
    return this.#clusters(this.#served).has(name);
  }

  begin(target: Resources, nowMs: number): void {
    this.#target = target;
    // What nobody has yet can break nothing.
    const firstSinceMs = this.#servedSinceMs.size === 0 ? Number.NEGATIVE_INFINITY : nowMs;
    for (const name of this.#clusters(target).keys()) {
      if (!this.#servedSinceMs.has(name)) this.#servedSinceMs.set(name, firstSinceMs);
    }
    this.advance(nowMs);
  }

  /** Takes the steps that are due. @returns when the next one is; undefined: there is none. */
  advance(nowMs: number): number | undefined {
    const readyMs = this.#readyMs();
    const isEmpty = this.#target.size === 0;
    if (readyMs <= nowMs && !isEmpty) this.#followed = this.#target;
    const clusters = new Map([...this.#clusters(this.#served), ...this.#clusters(this.#target)]);
    let nextMs = readyMs > nowMs ? readyMs : Number.POSITIVE_INFINITY;
    for (const name of clusters.keys()) {
      const endMs = this.#endMs(name, nowMs);
      if (endMs > nowMs) nextMs = Math.min(nextMs, endMs);
      else this.#forget(name, clusters);
    }
    const told = isEmpty ? NONE : this.#followed;
    this.#served = clusters.size === 0 ? told : new Map(told).set(this.#clusterType, clusters);
    return nextMs === Number.POSITIVE_INFINITY ? undefined : nextMs;
  }

  /** When every cluster that the target needs has been out for long enough. */
  #readyMs(): number {
    let latestMs = Number.NEGATIVE_INFINITY;
    for (const name of this.#clusters(this.#target).keys()) {
      latestMs = Math.max(latestMs, (this.#servedSinceMs.get(name) ?? 0) + this.#times.followMs);
    }
    return latestMs;
  }

  /** When a cluster ends; infinity while it is used. */
  #endMs(name: string, nowMs: number): number {
    if (this.#clusters(this.#target).has(name) || this.#clusters(this.#followed).has(name)) {
      this.#unusedSinceMs.delete(name);
      return Number.POSITIVE_INFINITY;
    }
    const sinceMs = this.#unusedSinceMs.get(name) ?? nowMs;
    this.#unusedSinceMs.set(name, sinceMs);
    return sinceMs + this.#times.retireMs;
  }

  #forget(name: string, clusters: Map<string, Resource>): void {
    clusters.delete(name);
    this.#servedSinceMs.delete(name);
    this.#unusedSinceMs.delete(name);
  }

  #clusters(of: Resources): ReadonlyMap<string, Resource> {
    return of.get(this.#clusterType) ?? new Map();
  }
}

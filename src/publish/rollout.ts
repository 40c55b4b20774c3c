import type { Resource } from './snapshot-store.ts';

/** By type URL, then by name. */
export type Resources = ReadonlyMap<string, ReadonlyMap<string, Resource>>;

const NONE: Resources = new Map();

/**
 * How the listeners, routes and clusters of another configuration reach the sidecars. No request may be sent to a
 * cluster that a sidecar does not have yet or any more, so it goes in three steps: {@link begin} adds new clusters,
 * {@link follow} brings the listeners and routes that use them, and {@link retire} ends the clusters that nobody uses
 * any more. Without new clusters the first two are one.
 */
export class Rollout {
  readonly #clusterType: string;
  #target = NONE;
  #served = NONE;

  constructor(clusterType: string) {
    this.#clusterType = clusterType;
  }

  /** What sidecars are to have at this step. */
  get served(): Resources {
    return this.#served;
  }

  begin(target: Resources): void {
    this.#target = target;
    this.#served = this.#withAllClusters(this.#hasNewCluster() ? this.#served : target);
  }

  follow(): void {
    this.#served = this.#withAllClusters(this.#target);
  }

  retire(): void {
    this.#served = this.#target;
  }

  /** There are clusters already, but not all that are needed. */
  #hasNewCluster(): boolean {
    const served = this.#served.get(this.#clusterType);
    const needed = this.#target.get(this.#clusterType)?.keys() ?? [];
    return served !== undefined && [...needed].some((name) => !served.has(name));
  }

  #withAllClusters(resources: Resources): Resources {
    const clusters = [this.#served, this.#target].flatMap((of) => [...(of.get(this.#clusterType) ?? [])]);
    if (clusters.length === 0) return resources;
    return new Map(resources).set(this.#clusterType, new Map(clusters));
  }
}

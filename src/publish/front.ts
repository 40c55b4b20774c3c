import type { Listener, ServerGroup } from '../core/model.ts';
import { PlimsollError } from '../runtime/errors.ts';
import type { Resource } from './snapshot-store.ts';

/**
 * How long a cluster stays after the last listener left it, ms. Longer than the 10 minutes that Envoy lets the
 * connections of a removed listener go on.
 */
const RETIRED_MS = 15 * 60_000;

/** What stands in front of one server group for the clients of one listener. */
export interface FrontEntry {
  readonly cluster: Resource;
  readonly listener: Resource;
  readonly route: Resource;
}

/**
 * The listeners, their routes and their clusters, make before break: a listener moves to another server group only
 * once that one has endpoints, and a cluster outlives its listeners, so that a change of the configuration fails no
 * request.
 */
export class Front {
  /** By listener, as the configuration has it. */
  #wanted = new Map<string, FrontEntry>();
  /** By listener, as sidecars get it. */
  readonly #served = new Map<string, FrontEntry>();
  /** By name; the time since when no listener needs it. */
  readonly #clusters = new Map<string, { readonly resource: Resource; readonly unusedSinceMs?: number }>();

  configure(
    groups: readonly ServerGroup[],
    listeners: readonly Listener[],
    encode: (listener: Listener, group: ServerGroup) => FrontEntry,
  ): void {
    const byName = new Map(groups.map((group) => [group.name, group]));
    this.#wanted = new Map(
      listeners.map((listener) => {
        const group = byName.get(listener.serverGroup);
        if (group !== undefined) return [listener.name, encode(listener, group)];
        throw new PlimsollError(
          'internal',
          `listener ${listener.name}: there is no server group ${listener.serverGroup}`,
        );
      }),
    );
  }

  /**
   * Brings what is served as near to what is wanted as can be without a break.
   * @param hasEndpoints whether a server group has been published
   */
  refresh(hasEndpoints: (serverGroup: string) => boolean, nowMs: number): void {
    for (const name of this.#served.keys()) if (!this.#wanted.has(name)) this.#served.delete(name);
    for (const [name, entry] of this.#wanted) {
      const before = this.#served.get(name);
      const moves = before !== undefined && before.cluster.name !== entry.cluster.name;
      if (!moves || hasEndpoints(entry.cluster.name)) this.#served.set(name, entry);
    }
    this.#refreshClusters(nowMs);
  }

  get entries(): ReadonlyMap<string, FrontEntry> {
    return this.#served;
  }

  get clusters(): ReadonlyMap<string, { readonly resource: Resource }> {
    return this.#clusters;
  }

  #refreshClusters(nowMs: number): void {
    const used = new Map<string, Resource>();
    for (const { cluster } of this.#served.values()) used.set(cluster.name, cluster);
    for (const { cluster } of this.#wanted.values()) used.set(cluster.name, cluster);
    for (const [name, { resource, unusedSinceMs = nowMs }] of this.#clusters) {
      if (nowMs - unusedSinceMs >= RETIRED_MS) this.#clusters.delete(name);
      else if (!used.has(name)) this.#clusters.set(name, { resource, unusedSinceMs });
    }
    for (const [name, resource] of used) this.#clusters.set(name, { resource });
  }
}

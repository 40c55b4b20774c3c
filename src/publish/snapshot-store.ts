import type { Assignment } from '../core/model/assignment.ts';

/** One encoded xDS resource. The version is a hash of the bytes: equal content has an equal version on every replica. */
export interface Resource {
  readonly typeUrl: string;
  readonly name: string;
  readonly version: string;
  /** The server group that it is about: who may not see the group may not see it. */
  readonly serverGroup: string;
  /** The encoded message, without the `Any` around it. Shared, never written to. */
  readonly bytes: Uint8Array;
}

/** By type URL, then by name. */
export type ZoneResources = ReadonlyMap<string, ReadonlyMap<string, Resource>>;

/** Everything that sidecars may ask for at one moment. Immutable. */
export interface Snapshot {
  /** By type URL, then by name. Nothing is said of a type that is absent; an empty one deletes what clients have of it. */
  readonly resources: ReadonlyMap<string, ReadonlyMap<string, Resource>>;
  /**
   * Names, by type URL, that exist but have no content yet (a group before its first collection) or no longer have
   * any (a group removed by a reload): a request for one is neither answered nor refused. Each is a server group's name.
   */
  readonly held: ReadonlyMap<string, ReadonlySet<string>>;
  /** By server group: the values that the endpoint resources were encoded from. */
  readonly assignments: ReadonlyMap<string, Assignment>;
  /**
   * By zone, as clients name theirs, then by type URL and name: what clients there get instead. What is there for a zone and
   * type is the same object as long as nothing in it has changed. undefined: no zone gets anything else.
   */
  readonly zones?: ReadonlyMap<string, ZoneResources> | undefined;
}

export interface SnapshotSource {
  /** undefined: the configuration is not loaded yet; nothing may be answered. */
  readonly current: Snapshot | undefined;
  /** @returns ends the subscription. */
  subscribe(listener: (snapshot: Snapshot) => void): () => void;
}

/** Holds the current snapshot and tells its subscribers of each new one, in the order of their subscription. */
export class SnapshotStore implements SnapshotSource {
  #current: Snapshot | undefined;
  readonly #listeners = new Set<(snapshot: Snapshot) => void>();

  get current(): Snapshot | undefined {
    return this.#current;
  }

  set(snapshot: Snapshot): void {
    this.#current = snapshot;
    for (const listener of this.#listeners) listener(snapshot);
  }

  subscribe(listener: (snapshot: Snapshot) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

import { createHash } from 'node:crypto';
import type { Assignment, Listener, ServerGroup } from '../core/model.ts';
import { PlimsollError } from '../runtime/errors.ts';
import { checkAssignment } from './check.ts';
import type { Resource, Snapshot, SnapshotStore } from './snapshot-store.ts';

/** An encoded message and what it is called; the publisher adds the version. */
export type EncodedResource = Omit<Resource, 'version'>;

/** Turns values into the messages that sidecars take. Handed in, so that protobuf stays in `xds`. */
export interface Encoder {
  readonly endpointType: string;
  endpoints(assignment: Assignment): EncodedResource;
  /** The cluster, listener and route of one listener and its group. */
  listener(listener: Listener, group: ServerGroup): readonly EncodedResource[];
}

/**
 * Builds the snapshots: the assignments of all groups and, where the configuration has listeners, all that a sidecar
 * needs besides. A new snapshot is stored only when some content differs.
 */
export class Publisher {
  readonly #store: SnapshotStore;
  readonly #encoder: Encoder;
  readonly #groups = new Set<string>();
  readonly #removed = new Set<string>();
  #listenerResources = new Map<string, Map<string, Resource>>();
  #endpoints = new Map<string, Resource>();
  #assignments = new Map<string, Assignment>();

  constructor(store: SnapshotStore, encoder: Encoder) {
    this.#store = store;
    this.#encoder = encoder;
  }

  /**
   * Takes the groups and listeners of a configuration. A group without an assignment is held until
   * {@link publish}; a group that is no longer there is held for good: its sidecars keep what they have.
   * @returns the names of the groups that went.
   */
  configure(groups: readonly ServerGroup[], listeners: readonly Listener[]): readonly string[] {
    const names = new Set(groups.map((group) => group.name));
    const gone = [...this.#groups].filter((name) => !names.has(name));
    for (const name of gone) {
      this.#groups.delete(name);
      this.#removed.add(name);
      this.#endpoints.delete(name);
      this.#assignments.delete(name);
    }
    for (const name of names) {
      this.#groups.add(name);
      this.#removed.delete(name);
    }
    this.#listenerResources = this.#encodeListeners(groups, listeners);
    this.#commit();
    return gone;
  }

  /**
   * Makes `assignment` the one that its group's sidecars get.
   * @returns its version, and whether it differs from what they had.
   * @throws PlimsollError `internal` when the assignment breaks a rule of Envoy's; what was published stands.
   */
  publish(assignment: Assignment): { readonly version: string; readonly changed: boolean } {
    const name = assignment.serverGroup;
    const broken = checkAssignment(assignment);
    if (broken !== undefined) {
      throw new PlimsollError(
        'internal',
        `the assignment of server group ${name} is not published: ${broken}`,
      );
    }
    const resource = withVersion(this.#encoder.endpoints(assignment));
    if (this.#endpoints.get(name)?.version === resource.version) {
      return { version: resource.version, changed: false };
    }
    this.#endpoints = new Map(this.#endpoints).set(name, resource);
    this.#assignments = new Map(this.#assignments).set(name, assignment);
    this.#commit();
    return { version: resource.version, changed: true };
  }

  /** Every group has an assignment. */
  get complete(): boolean {
    return [...this.#groups].every((name) => this.#endpoints.has(name));
  }

  #encodeListeners(
    groups: readonly ServerGroup[],
    listeners: readonly Listener[],
  ): Map<string, Map<string, Resource>> {
    const byName = new Map(groups.map((group) => [group.name, group]));
    const resources = new Map<string, Map<string, Resource>>();
    for (const listener of listeners) {
      const group = byName.get(listener.serverGroup);
      if (group === undefined) {
        throw new PlimsollError(
          'internal',
          `listener ${listener.name}: there is no server group ${listener.serverGroup}`,
        );
      }
      for (const encoded of this.#encoder.listener(listener, group)) {
        const ofType = resources.get(encoded.typeUrl) ?? new Map<string, Resource>();
        resources.set(encoded.typeUrl, ofType.set(encoded.name, withVersion(encoded)));
      }
    }
    return resources;
  }

  #commit(): void {
    const held = [...this.#groups].filter((name) => !this.#endpoints.has(name));
    const snapshot: Snapshot = {
      resources: new Map<string, ReadonlyMap<string, Resource>>([
        ...this.#listenerResources,
        [this.#encoder.endpointType, new Map(this.#endpoints)],
      ]),
      held: new Map([[this.#encoder.endpointType, new Set([...held, ...this.#removed])]]),
      assignments: new Map(this.#assignments),
    };
    this.#store.set(snapshot);
  }
}

function withVersion(encoded: EncodedResource): Resource {
  return { ...encoded, version: createHash('sha256').update(encoded.bytes).digest('hex').slice(0, 20) };
}

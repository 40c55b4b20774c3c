import { createHash } from 'node:crypto';
import type { Assignment, Listener, ServerGroup } from '../core/model.ts';
import type { Clock } from '../runtime/clock.ts';
import { PlimsollError } from '../runtime/errors.ts';
import { checkAssignment } from './check.ts';
import { Front } from './front.ts';
import type { Resource, SnapshotStore } from './snapshot-store.ts';

/** An encoded message and what it is called; the publisher adds the version. */
export type EncodedResource = Omit<Resource, 'version'>;

/** Turns values into the messages that sidecars take. Handed in, so that protobuf stays in `xds`. */
export interface Encoder {
  endpoints(assignment: Assignment): EncodedResource;
  cluster(group: ServerGroup): EncodedResource;
  listener(listener: Listener, group: ServerGroup): EncodedResource;
  route(listener: Listener, group: ServerGroup): EncodedResource;
  /** The type of what `endpoints` returns. */
  readonly endpointType: string;
}

/**
 * Builds the snapshots: the assignments of all groups and, where the configuration has listeners, all that a sidecar
 * needs besides. A new snapshot is stored only when some content differs.
 */
export class Publisher {
  readonly #store: SnapshotStore;
  readonly #encoder: Encoder;
  readonly #clock: Clock;
  readonly #front = new Front();
  readonly #groups = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #endpoints = new Map<string, Resource>();
  readonly #assignments = new Map<string, Assignment>();

  constructor(options: { readonly store: SnapshotStore; readonly encoder: Encoder; readonly clock: Clock }) {
    this.#store = options.store;
    this.#encoder = options.encoder;
    this.#clock = options.clock;
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
    }
    for (const name of names) {
      this.#groups.add(name);
      this.#removed.delete(name);
    }
    this.#front.configure(groups, listeners, (listener, group) => ({
      cluster: withVersion(this.#encoder.cluster(group)),
      listener: withVersion(this.#encoder.listener(listener, group)),
      route: withVersion(this.#encoder.route(listener, group)),
    }));
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
    this.#endpoints.set(name, resource);
    this.#assignments.set(name, assignment);
    this.#commit();
    return { version: resource.version, changed: true };
  }

  /** Every group has an assignment. */
  get complete(): boolean {
    return [...this.#groups].every((name) => this.#endpoints.has(name));
  }

  #commit(): void {
    const front = this.#front;
    front.refresh((name) => this.#endpoints.has(name), this.#clock.now());
    for (const name of this.#removed) {
      if (front.clusters.has(name)) continue;
      this.#endpoints.delete(name);
      this.#assignments.delete(name);
    }
    const held = [...this.#groups, ...this.#removed].filter((name) => !this.#endpoints.has(name));
    const entries = [...front.entries.values()];
    // without listeners the types of a front are not there at all: nothing is said of them, and nothing deleted
    const resources = byType([
      ...(entries.length === 0 ? [] : [...front.clusters.values()].map(({ resource }) => resource)),
      ...entries.flatMap(({ listener, route }) => [listener, route]),
    ]);
    resources.set(this.#encoder.endpointType, new Map(this.#endpoints));
    this.#store.set({
      resources,
      held: new Map([[this.#encoder.endpointType, new Set(held)]]),
      assignments: new Map(this.#assignments),
    });
  }
}

function byType(resources: readonly Resource[]): Map<string, Map<string, Resource>> {
  const types = new Map<string, Map<string, Resource>>();
  for (const resource of resources) {
    const ofType = types.get(resource.typeUrl) ?? new Map<string, Resource>();
    types.set(resource.typeUrl, ofType.set(resource.name, resource));
  }
  return types;
}

function withVersion(encoded: EncodedResource): Resource {
  return { ...encoded, version: createHash('sha256').update(encoded.bytes).digest('hex').slice(0, 20) };
}

import { createHash } from 'node:crypto';
import type { Assignment } from '../core/model/assignment.ts';
import type { Listener } from '../core/model/configuration.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import { PlimsollError } from '../runtime/errors.ts';
import { checkAssignment } from './check.ts';
import { NO_ZONES, type ZoneAssignment, ZoneEndpoints, type ZoneVersions } from './zone-endpoints.ts';
import { type Resources, ROLLOUT_TIMES, Rollout, type RolloutTimes } from './rollout.ts';
import type { Resource, SnapshotStore } from './snapshot-store.ts';

/** An encoded message and what it is called; the publisher adds the rest. */
export type EncodedResource = Omit<Resource, 'version' | 'serverGroup'>;

/** Turns values into the messages that sidecars take. Handed in, so that protobuf stays in `xds`. */
export interface Encoder {
  readonly endpointType: string;
  /** Of what routes refer to. */
  readonly clusterType: string;
  endpoints(assignment: Assignment): EncodedResource;
}

/** What went out, by its version. */
export interface PublishedVersions {
  readonly version: string;
  /** Whether it differs from what was there before. */
  readonly changed: boolean;
  /** By zone, of all that get something else. */
  readonly zones: ZoneVersions;
  /** Whether any sidecar is told something else than before. */
  readonly news: boolean;
}

/** Names of groups that went and are still held; the oldest is forgotten beyond. */
const REMOVED_MAX = 10_000;

/** Where one kind of clients gets its resources. */
export interface Outlet {
  readonly store: SnapshotStore;
  /** What these clients need of a listener and its group besides the assignment. */
  readonly listener: (listener: Listener, group: ServerGroup) => readonly EncodedResource[];
}

/**
 * Builds the snapshots: the assignments of all groups and, where the configuration has listeners, all that a sidecar
 * needs besides. Publishing what is published already stores no new one.
 */
export class Publisher {
  readonly #encoder: Encoder;
  readonly #outlets: readonly (Outlet & { readonly rollout: Rollout })[];
  readonly #groups = new Set<string>();
  /** Groups that went and when, oldest first. */
  readonly #removed = new Map<string, number>();
  /** By name: the groups that listeners use, also those that went. */
  #used: ReadonlyMap<string, ServerGroup> = new Map();
  readonly #times: RolloutTimes;
  readonly #zones: ZoneEndpoints;
  #endpoints = new Map<string, Resource>();
  #assignments = new Map<string, Assignment>();

  constructor(encoder: Encoder, outlets: readonly Outlet[], times: RolloutTimes = ROLLOUT_TIMES) {
    this.#encoder = encoder;
    this.#zones = new ZoneEndpoints(encoder.endpointType, (assignment) => this.#resourceOf(assignment));
    this.#times = times;
    this.#outlets = outlets.map((outlet) => ({
      ...outlet,
      rollout: new Rollout(encoder.clusterType, times),
    }));
  }

  /**
   * Takes the groups and listeners of a configuration. A group without an assignment is held until {@link publish}. A
   * listener may go on with a group that went, as long as it has used it since, times without any listener included: that
   * one is served meanwhile.
   * What is no longer there, or new to sidecars, comes and goes in the steps of a {@link Rollout}: call {@link advance}
   * next.
   * @returns the names of the groups that went.
   */
  configure(
    groups: readonly ServerGroup[],
    listeners: readonly Listener[],
    nowMs: number,
  ): readonly string[] {
    const names = new Set(groups.map((group) => group.name));
    const gone = [...this.#groups].filter((name) => !names.has(name));
    for (const name of gone) {
      this.#groups.delete(name);
      this.#removed.set(name, nowMs);
    }
    for (const name of names) {
      // one that comes back is a new one
      if (!this.#groups.has(name)) this.#forget(name);
      this.#groups.add(name);
      this.#removed.delete(name);
    }
    const known = new Map([...this.#used, ...groups.map((group) => [group.name, group] as const)]);
    for (const outlet of this.#outlets)
      outlet.rollout.begin(encodeListeners(outlet, known, listeners), nowMs);
    // without any listener sidecars keep those that they have
    const used = listeners.length === 0 ? this.#used.keys() : listeners.map((of) => of.serverGroup);
    this.#use(new Set(used), known, nowMs);
    this.#commit();
    return gone;
  }

  /**
   * Takes the steps of what {@link configure} began that are due. The assignment of a group that is gone ends with its
   * cluster; then it is held: its sidecars keep what they have.
   * @returns when the next step is due; undefined: there is none.
   */
  advance(nowMs: number): number | undefined {
    const due = this.#outlets.map(({ rollout }) => rollout.advance(nowMs));
    for (const [name, goneAtMs] of this.#removed) {
      const tooMany = this.#removed.size > REMOVED_MAX;
      // those of listeners that sidecars keep while there are none may be others than the last ones configured
      const isServed = this.#outlets.some(({ rollout }) => rollout.hasCluster(name));
      if (this.#used.has(name) || (isServed && !tooMany)) continue;
      const endMs = goneAtMs + this.#times.retireMs;
      if (endMs <= nowMs || tooMany) this.#forget(name);
      else due.push(endMs);
      if (tooMany) this.#removed.delete(name);
    }
    this.#commit();
    const times = due.filter((time) => time !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /**
   * Makes `assignment` the one that its group's sidecars get.
   * @param zones what those of some zones get instead
   * @returns its version, whether it differs from what they had, and the same of the zones.
   * @throws PlimsollError `internal` when an assignment breaks a rule of Envoy's; what was published stands.
   */
  publish(assignment: Assignment, zones: readonly ZoneAssignment[] = NO_ZONES): PublishedVersions {
    const name = assignment.serverGroup;
    const resource = this.#resourceOf(assignment);
    const ofZones = this.#zones.publish(name, zones);
    const { version } = resource;
    const changed = this.#endpoints.get(name)?.version !== version;
    if (changed) {
      this.#endpoints = new Map(this.#endpoints).set(name, resource);
      this.#assignments = new Map(this.#assignments).set(name, assignment);
    }
    const news = changed || ofZones.changed;
    if (news) this.#commit();
    return { version, changed, zones: ofZones.versions, news };
  }

  /** Every group has an assignment. */
  get complete(): boolean {
    return [...this.#groups].every((name) => this.#endpoints.has(name));
  }

  /** The group is configured and has an assignment. */
  has(serverGroup: string): boolean {
    return this.#groups.has(serverGroup) && this.#endpoints.has(serverGroup);
  }

  /** A group that went and is used no longer is retired from here on. */
  #use(names: ReadonlySet<string>, known: ReadonlyMap<string, ServerGroup>, nowMs: number): void {
    for (const name of this.#used.keys()) {
      // at the end: oldest first
      if (!names.has(name) && this.#removed.delete(name)) this.#removed.set(name, nowMs);
    }
    this.#used = new Map([...known].filter(([name]) => names.has(name)));
  }

  #resourceOf(assignment: Assignment): Resource {
    const { serverGroup } = assignment;
    const broken = checkAssignment(assignment);
    if (broken === undefined) return resourceOf(serverGroup, this.#encoder.endpoints(assignment));
    throw new PlimsollError(
      'internal',
      `the assignment of server group ${serverGroup} is not published: ${broken}`,
    );
  }

  #forget(name: string): void {
    this.#zones.forget(name);
    if (!this.#endpoints.has(name)) return;
    this.#endpoints = without(this.#endpoints, name);
    this.#assignments = without(this.#assignments, name);
  }

  #commit(): void {
    const { endpointType } = this.#encoder;
    const held = [...this.#groups].filter((name) => !this.#endpoints.has(name));
    const shared = {
      held: new Map([[endpointType, new Set([...held, ...this.#removed.keys()])]]),
      assignments: this.#assignments,
      ...(this.#zones.current && { zones: this.#zones.current }),
    };
    for (const { store, rollout } of this.#outlets) {
      store.set({ ...shared, resources: new Map(rollout.served).set(endpointType, this.#endpoints) });
    }
  }
}

function without<V>(map: ReadonlyMap<string, V>, name: string): Map<string, V> {
  const copy = new Map(map);
  copy.delete(name);
  return copy;
}

function encodeListeners(
  outlet: Outlet,
  groups: ReadonlyMap<string, ServerGroup>,
  listeners: readonly Listener[],
): Resources {
  const resources = new Map<string, Map<string, Resource>>();
  for (const listener of listeners) {
    const group = groups.get(listener.serverGroup);
    if (group === undefined) {
      throw new PlimsollError(
        'internal',
        `listener ${listener.name}: there is no server group ${listener.serverGroup}`,
      );
    }
    for (const encoded of outlet.listener(listener, group)) {
      const ofType = resources.get(encoded.typeUrl) ?? new Map<string, Resource>();
      resources.set(encoded.typeUrl, ofType.set(encoded.name, resourceOf(group.name, encoded)));
    }
  }
  return resources;
}

function resourceOf(serverGroup: string, encoded: EncodedResource): Resource {
  const version = createHash('sha256').update(encoded.bytes).digest('hex').slice(0, 20);
  return { ...encoded, serverGroup, version };
}

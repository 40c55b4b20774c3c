import type { Assignment } from '../core/model/assignment.ts';
import type { Resource, ZoneResources } from './snapshot-store.ts';

/** What the sidecars of one zone get of a group. */
export interface ZoneAssignment {
  readonly zone: string;
  /** The same object as long as it is the same content. */
  readonly assignment: Assignment;
}

/** By zone: the version that its sidecars get, and whether it differs from the one before. */
export type ZoneVersions = ReadonlyMap<string, { readonly version: string; readonly changed: boolean }>;

export const NO_ZONES: readonly ZoneAssignment[] = [];

interface Encoded {
  readonly assignment: Assignment;
  readonly resource: Resource;
}

/** The assignments that are another one for sidecars of some zones, encoded once for each. */
export class ZoneEndpoints {
  readonly #typeUrl: string;
  readonly #encode: (assignment: Assignment) => Resource;
  /** By server group, then by zone. */
  readonly #groups = new Map<string, ReadonlyMap<string, Encoded>>();
  #current: ReadonlyMap<string, ZoneResources> | undefined;

  /** @param encode throws what may not be published */
  constructor(typeUrl: string, encode: (assignment: Assignment) => Resource) {
    this.#typeUrl = typeUrl;
    this.#encode = encode;
  }

  /** As in a snapshot. */
  get current(): ReadonlyMap<string, ZoneResources> | undefined {
    return this.#current;
  }

  /** Makes these the assignments of a group's zones: all or, where one of them is broken, none. */
  publish(
    serverGroup: string,
    zones: readonly ZoneAssignment[],
  ): { readonly changed: boolean; readonly versions: ZoneVersions } {
    const before = this.#groups.get(serverGroup);
    if (before === undefined && zones.length === 0) return { changed: false, versions: new Map() };
    const encoded = new Map<string, Encoded>();
    for (const { zone, assignment } of zones) {
      const known = before?.get(zone);
      const same = known?.assignment === assignment;
      encoded.set(zone, same ? known : { assignment, resource: this.#encode(assignment) });
    }
    const versions = new Map(
      Array.from(
        encoded,
        ([
          zone,
          {
            resource: { version },
          },
        ]) => {
          const changed = before?.get(zone)?.resource.version !== version;
          return [zone, { version, changed }] as const;
        },
      ),
    );
    const left = [...(before?.keys() ?? [])].some((zone) => !encoded.has(zone));
    const changed = left || [...versions.values()].some((of) => of.changed);
    this.#put(serverGroup, encoded, changed);
    return { changed, versions };
  }

  /** The group is gone. */
  forget(serverGroup: string): void {
    if (this.#groups.has(serverGroup)) this.#put(serverGroup, new Map(), true);
  }

  #put(serverGroup: string, encoded: ReadonlyMap<string, Encoded>, changed: boolean): void {
    const before = this.#groups.get(serverGroup);
    if (encoded.size === 0) this.#groups.delete(serverGroup);
    else this.#groups.set(serverGroup, encoded);
    if (!changed) return;
    const zones = new Map(this.#current);
    for (const zone of new Set([...(before?.keys() ?? []), ...encoded.keys()])) {
      const [was, is] = [before?.get(zone)?.resource, encoded.get(zone)?.resource];
      if (was?.version === is?.version) continue;
      const resources = new Map(zones.get(zone)?.get(this.#typeUrl));
      if (is === undefined) resources.delete(serverGroup);
      else resources.set(serverGroup, is);
      if (resources.size === 0) zones.delete(zone);
      else zones.set(zone, new Map([[this.#typeUrl, resources]]));
    }
    this.#current = zones.size === 0 ? undefined : zones;
  }
}

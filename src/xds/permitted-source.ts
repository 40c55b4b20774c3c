import type { Snapshot, SnapshotSource } from '../publish/snapshot-store.ts';

const NO_ZONES: NonNullable<Snapshot['zones']> = new Map();

/**
 * A source without what belongs to other server groups than the allowed ones: whoever reads it cannot tell that there
 * is more. A part of which nothing has changed is the same object as before, as in the source.
 */
export class PermittedSource implements SnapshotSource {
  readonly #source: SnapshotSource;
  readonly #allowed: ReadonlySet<string>;
  /** By type URL: the resources of the source that were last looked through, and what is allowed of them. */
  readonly #parts: Parts = new Map();
  /** The same of the zones that there are, each key with the zone's name before the type. */
  #zoneParts: Parts = new Map();
  #last: { readonly of: Snapshot; readonly permitted: Snapshot } | undefined;

  constructor(source: SnapshotSource, serverGroups: ReadonlySet<string>) {
    this.#source = source;
    this.#allowed = serverGroups;
  }

  get current(): Snapshot | undefined {
    return this.#source.current === undefined ? undefined : this.#permitted(this.#source.current);
  }

  subscribe(listener: (snapshot: Snapshot) => void): () => void {
    return this.#source.subscribe((snapshot) => {
      listener(this.#permitted(snapshot));
    });
  }

  #permitted(of: Snapshot): Snapshot {
    if (this.#last?.of === of) return this.#last.permitted;
    const resources = Array.from(
      of.resources,
      ([type, all]) => [type, this.#part(type, all, this.#parts, this.#parts)] as const,
    );
    const held = Array.from(of.held, ([type, names]) => [type, this.#groups(names)] as const);
    const assignments = [...of.assignments].filter(([group]) => this.#allowed.has(group));
    const zones = this.#zones(of.zones ?? NO_ZONES);
    const permitted = {
      resources: new Map(resources),
      held: new Map(held),
      assignments: new Map(assignments),
      ...(of.zones && { zones }),
    };
    this.#last = { of, permitted };
    return permitted;
  }

  #zones(of: NonNullable<Snapshot['zones']>): NonNullable<Snapshot['zones']> {
    const [before, parts]: [Parts, Parts] = [this.#zoneParts, new Map()];
    this.#zoneParts = parts;
    return new Map(
      Array.from(of, ([zone, types]) => {
        const allowed = Array.from(
          types,
          ([type, all]) => [type, this.#part(`${zone} ${type}`, all, before, parts)] as const,
        );
        return [zone, new Map(allowed)] as const;
      }),
    );
  }

  #groups(names: ReadonlySet<string>): ReadonlySet<string> {
    return new Set([...names].filter((name) => this.#allowed.has(name)));
  }

  #part(key: string, of: Resources, before: Parts, parts: Parts): Resources {
    const known = before.get(key);
    const allowed =
      known?.of === of
        ? known.allowed
        : new Map([...of].filter(([, { serverGroup }]) => this.#allowed.has(serverGroup)));
    parts.set(key, { of, allowed });
    return allowed;
  }
}

type Resources = NonNullable<ReturnType<Snapshot['resources']['get']>>;
type Parts = Map<string, { readonly of: Resources; readonly allowed: Resources }>;

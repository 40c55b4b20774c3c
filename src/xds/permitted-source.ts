import type { Snapshot, SnapshotSource } from '../publish/snapshot-store.ts';

/**
 * A source without what belongs to other server groups than the allowed ones: whoever reads it cannot tell that there
 * is more. A part of which nothing has changed is the same object as before, as in the source.
 */
export class PermittedSource implements SnapshotSource {
  readonly #source: SnapshotSource;
  readonly #allowed: ReadonlySet<string>;
  /** By type URL: the resources of the source that were last looked through, and what is allowed of them. */
  readonly #parts = new Map<string, { readonly of: Resources; readonly allowed: Resources }>();
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
    const resources = Array.from(of.resources, ([type, all]) => [type, this.#part(type, all)] as const);
    const held = Array.from(of.held, ([type, names]) => [type, this.#groups(names)] as const);
    const assignments = [...of.assignments].filter(([group]) => this.#allowed.has(group));
    const permitted = {
      resources: new Map(resources),
      held: new Map(held),
      assignments: new Map(assignments),
    };
    this.#last = { of, permitted };
    return permitted;
  }

  #part(typeUrl: string, of: Resources): Resources {
    const before = this.#parts.get(typeUrl);
    if (before?.of === of) return before.allowed;
    const allowed = new Map([...of].filter(([, { serverGroup }]) => this.#allowed.has(serverGroup)));
    this.#parts.set(typeUrl, { of, allowed });
    return allowed;
  }

  #groups(names: ReadonlySet<string>): ReadonlySet<string> {
    return new Set([...names].filter((name) => this.#allowed.has(name)));
  }
}

type Resources = NonNullable<ReturnType<Snapshot['resources']['get']>>;

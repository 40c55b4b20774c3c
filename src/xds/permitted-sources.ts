import type { AuthorizationRule } from '../core/model/configuration.ts';
import type { SnapshotSource } from '../publish/snapshot-store.ts';
import type { Identity } from './identity.ts';
import { permissionOf } from './permission.ts';
import { PermittedSource } from './permitted-source.ts';

/** Sources by permission: clients that may see the same share one, and with it everything that is encoded from it. */
export class PermittedSources {
  readonly #rules: readonly AuthorizationRule[] | undefined;
  readonly #sources = new Map<SnapshotSource, Map<string, PermittedSource>>();

  /** @param rules undefined: every client may see everything. */
  constructor(rules: readonly AuthorizationRule[] | undefined) {
    this.#rules = rules;
  }

  /** What of `source` a client may see; undefined: nothing, its stream is to be refused. */
  of(source: SnapshotSource, identities: readonly Identity[]): SnapshotSource | undefined {
    const permission = permissionOf(this.#rules, identities);
    switch (permission.kind) {
      case 'all':
        return source;
      case 'none':
        return undefined;
      case 'groups':
        return this.#part(source, permission.serverGroups);
    }
  }

  #part(source: SnapshotSource, serverGroups: ReadonlySet<string>): PermittedSource {
    const parts = this.#sources.get(source) ?? new Map<string, PermittedSource>();
    this.#sources.set(source, parts);
    // names have no space
    const key = [...serverGroups].toSorted().join(' ');
    const part = parts.get(key) ?? new PermittedSource(source, serverGroups);
    parts.set(key, part);
    return part;
  }
}

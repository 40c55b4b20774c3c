import type { Resource } from '../publish/snapshot-store.ts';
import { EVERY_NAME, type RememberedNames, type TypeView } from './subscription.ts';

/**
 * The names that a state-of-the-world stream asks for: each request carries the whole list, and the newest list
 * holds whatever its nonce.
 */
export class SotwNames {
  readonly #emptyMeansAll: boolean;
  #list: readonly string[] | undefined;
  #names: ReadonlySet<string> = new Set();
  #wildcard = false;
  #listed = false;
  #askedForAll = false;
  readonly #asked = new Set<string>();

  /** @param emptyMeansAll an empty list asks for everything until a name has been listed. */
  constructor(emptyMeansAll: boolean) {
    this.#emptyMeansAll = emptyMeansAll;
  }

  /** @returns whether the list is another than before; nearly always it is the same. */
  replace(list: readonly string[]): boolean {
    if (this.#list !== undefined && equal(list, this.#list)) return false;
    this.#list = list;
    const names = new Set(list);
    this.#listed ||= list.length > 0;
    const wildcard = names.delete(EVERY_NAME) || (this.#emptyMeansAll && !this.#listed);
    if (wildcard && !this.#wildcard) this.#askedForAll = true;
    for (const name of names) if (!this.#names.has(name)) this.#asked.add(name);
    for (const name of this.#asked) if (!names.has(name) && !wildcard) this.#asked.delete(name);
    this.#names = names;
    this.#wildcard = wildcard;
    this.#askedForAll &&= wildcard;
    return true;
  }

  renew(names: readonly string[]): void {
    for (const name of names) if (this.includes(name)) this.#asked.add(name);
  }

  /** The newest list. */
  get remembered(): readonly RememberedNames[] {
    return [this.#names];
  }

  includes(name: string): boolean {
    return this.#wildcard || this.#names.has(name);
  }

  /** An answer is due for everything. */
  get askedForAll(): boolean {
    return this.#askedForAll;
  }

  /** Names to be answered whatever their version. */
  get asked(): ReadonlySet<string> {
    return this.#asked;
  }

  /** @param held is still owed: it may come with the version that the client has, and be waited for regardless. */
  answered(held: ReadonlySet<string>): void {
    if (this.#askedForAll) for (const name of held) this.#asked.add(name);
    this.#askedForAll = false;
    for (const name of this.#asked) if (!held.has(name)) this.#asked.delete(name);
  }

  /** Those resources of `view` that are asked for. */
  of(view: TypeView): readonly Resource[] {
    return this.#wildcard ? [...view.resources.values()] : existing(this.#names, view);
  }
}

function equal(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}

export function existing(names: Iterable<string>, view: TypeView): readonly Resource[] {
  const resources: Resource[] = [];
  for (const name of names) {
    const resource = view.resources.get(name);
    if (resource !== undefined) resources.push(resource);
  }
  return resources;
}

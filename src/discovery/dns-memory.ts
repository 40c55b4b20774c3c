/** The addresses that names had when they were last answered for. */
export class DnsMemory {
  readonly #names = new Map<string, Map<4 | 6, readonly string[]>>();

  /** undefined: never answered for. */
  get(name: string, family: 4 | 6): readonly string[] | undefined {
    return this.#names.get(name)?.get(family);
  }

  set(name: string, family: 4 | 6, addresses: readonly string[]): void {
    const families = this.#names.get(name) ?? new Map<4 | 6, readonly string[]>();
    this.#names.set(name, families.set(family, addresses));
  }

  /** Forgets all other names. */
  keep(names: readonly string[]): void {
    const kept = new Set(names);
    for (const name of this.#names.keys()) if (!kept.has(name)) this.#names.delete(name);
  }
}

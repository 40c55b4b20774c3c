/** Tells what a value was a fixed time ago. */
export class Past<T> {
  readonly #ageMs: number;
  /** In order of time; the first is the one that holds now, or will next. */
  readonly #values: { readonly atMs: number; readonly value: T }[] = [];

  constructor(ageMs: number) {
    this.#ageMs = ageMs;
  }

  /** The value from `atMs` on, which must not lie before that of the value before. */
  put(atMs: number, value: T): void {
    this.#values.push({ atMs, value });
    this.#forget(atMs);
  }

  /** The value at `nowMs` less the age; before the first one that one; undefined: there was none yet. */
  at(nowMs: number): T | undefined {
    this.#forget(nowMs);
    return this.#values[0]?.value;
  }

  #forget(nowMs: number): void {
    const next = this.#values.findIndex(({ atMs }) => atMs > nowMs - this.#ageMs);
    this.#values.splice(0, (next < 0 ? this.#values.length : next) - 1);
  }
}

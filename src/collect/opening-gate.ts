/** Lets a limited number of callers in at a time; the others wait in the order of their coming. */
export class OpeningGate {
  #free: number;
  readonly #waiting = new Set<() => void>();

  /** @param limit at least 1 */
  constructor(limit: number) {
    this.#free = limit;
  }

  /** Resolves when the caller is in, with what lets it out again; with undefined when `signal` aborts before that. */
  enter(signal: AbortSignal): Promise<(() => void) | undefined> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve(undefined);
        return;
      }
      const admit = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve(this.#exit());
      };
      const onAbort = (): void => {
        this.#waiting.delete(admit);
        resolve(undefined);
      };
      if (this.#free > 0) {
        this.#free--;
        admit();
        return;
      }
      this.#waiting.add(admit);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** @returns lets one caller out, once however often it is called */
  #exit(): () => void {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const [next] = this.#waiting;
      if (next === undefined) {
        this.#free++;
        return;
      }
      this.#waiting.delete(next);
      next();
    };
  }
}

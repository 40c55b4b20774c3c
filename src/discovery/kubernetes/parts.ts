import type { DiscoveryObserver } from '../discoverer.ts';
import type { FoundAndLeftOut } from './found.ts';
import type { ReflectorObserver } from './reflector.ts';

/** What the parts make together; undefined: not everything is there yet. */
export type Sum =
  | (FoundAndLeftOut & { readonly kind: 'found' })
  | { readonly kind: 'failed'; readonly reason: string }
  | undefined;

/** Reflectors that make one list together. While one of them fails, the source counts as failing. */
export class Parts {
  readonly #observer: DiscoveryObserver;
  readonly #sum: () => Sum;
  readonly #failing = new Map<string, string>();

  constructor(observer: DiscoveryObserver, sum: () => Sum) {
    this.#observer = observer;
    this.#sum = sum;
  }

  /**
   * One of them.
   * @param take is given its objects before they are summed up
   */
  part<T>(name: string, take: (objects: ReadonlyMap<string, T>) => void): ReflectorObserver<T> {
    return {
      changed: (objects) => {
        this.#failing.delete(name);
        take(objects);
        this.#tell();
      },
      failed: (reason) => {
        this.#failing.set(name, reason);
        this.#observer.failed(reason);
      },
    };
  }

  #tell(): void {
    const sum = this.#sum();
    if (sum?.kind === 'found') this.#observer.found(sum.found, sum.leftOut);
    const [failing] = this.#failing.values();
    const reason = sum?.kind === 'failed' ? sum.reason : failing;
    if (sum !== undefined && reason !== undefined) this.#observer.failed(reason);
  }
}

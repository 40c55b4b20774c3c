import { Child } from '../bench/routing/child.ts';

export type SidecarsQuestion =
  | { readonly kind: 'start'; readonly count: number; readonly port: number; readonly serverGroup: string }
  /** The first `count` of them end their connections and come back. */
  | { readonly kind: 'reconnect'; readonly first: number; readonly count: number }
  /** From here on these refuse every response; none: all take what comes. */
  | { readonly kind: 'refuse'; readonly count: number }
  | { readonly kind: 'look' };

export interface SidecarsAnswer {
  /** Sidecars with an open stream that had an answer. */
  readonly served: number;
  /** Streams that were begun since the start. */
  readonly streams: number;
  /** Responses since the start. */
  readonly responses: number;
  /** What the first one would send to each backend, `HOST:PORT`, over what each had if all were equal. */
  readonly shares: ReadonlyMap<string, number>;
}

/** Simulated sidecars, each with a connection of its own, in one process of their own. */
export class Sidecars {
  readonly #child: Child<SidecarsQuestion, SidecarsAnswer>;
  readonly count: number;

  /** @param port of the control plane's xDS address on 127.0.0.1 */
  static async start(count: number, port: number, serverGroup: string): Promise<Sidecars> {
    const child = new Child<SidecarsQuestion, SidecarsAnswer>('../../soak/sidecars-program.ts');
    try {
      await child.ask({ kind: 'start', count, port, serverGroup });
      return new Sidecars(child, count);
    } catch (error) {
      await child.stop();
      throw error;
    }
  }

  private constructor(child: Child<SidecarsQuestion, SidecarsAnswer>, count: number) {
    this.#child = child;
    this.count = count;
  }

  /** SIGSTOP and SIGCONT. */
  freeze(): void {
    process.kill(this.#child.pid, 'SIGSTOP');
  }

  thaw(): void {
    process.kill(this.#child.pid, 'SIGCONT');
  }

  look(): Promise<SidecarsAnswer> {
    return this.#child.ask({ kind: 'look' });
  }

  async reconnect(first: number, count: number): Promise<void> {
    await this.#child.ask({ kind: 'reconnect', first, count });
  }

  async refuse(count: number): Promise<void> {
    await this.#child.ask({ kind: 'refuse', count });
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }
}

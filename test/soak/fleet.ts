import { Child } from '../bench/routing/child.ts';
import type { BackendChange } from '../faults/backend-change.ts';
import type { Place } from '../faults/place.ts';

export type FleetQuestion =
  | { readonly kind: 'start'; readonly addresses: readonly string[] }
  | { readonly kind: 'change'; readonly backend: number; readonly change: BackendChange }
  /** Ports are closed and opened by whom; one is open while nobody wants it closed. */
  | {
      readonly kind: 'close';
      readonly backends: readonly number[];
      readonly by: string;
      readonly closed: boolean;
    }
  | { readonly kind: 'hang'; readonly backends: readonly number[]; readonly hung: boolean }
  /** Shares of the requests that are made up, by `HOST:PORT`; who is not named has none. */
  | { readonly kind: 'share'; readonly shares: ReadonlyMap<string, number> }
  /** The next opening is on another port, or on that of the beginning. */
  | { readonly kind: 'move'; readonly backends: readonly number[]; readonly elsewhere: boolean };

/** Ports, by index. */
export type FleetAnswer = readonly number[];

/** A subnet of the loopback network of its own. */
const SUBNET = '127.61';
const PER_SUBNET = 250;

/** All backends of the soak, in one process of their own. */
export class Fleet {
  readonly #child: Child<FleetQuestion, FleetAnswer>;
  readonly #addresses: readonly string[];
  #ports: readonly number[];

  static async start(count: number): Promise<Fleet> {
    const addresses = Array.from(
      { length: count },
      (_, index) => `${SUBNET}.${Math.floor(index / PER_SUBNET)}.${(index % PER_SUBNET) + 1}`,
    );
    const child = new Child<FleetQuestion, FleetAnswer>('../../soak/fleet-program.ts');
    try {
      return new Fleet(child, addresses, await child.ask({ kind: 'start', addresses }));
    } catch (error) {
      await child.stop();
      throw error;
    }
  }

  private constructor(
    child: Child<FleetQuestion, FleetAnswer>,
    addresses: readonly string[],
    ports: readonly number[],
  ) {
    this.#child = child;
    this.#addresses = addresses;
    this.#ports = ports;
  }

  /** Where the backends listen now, or did when they last listened. */
  get places(): readonly Place[] {
    return this.#addresses.map((address, index) => ({ address, port: this.#ports[index] ?? 0 }));
  }

  async tell(question: FleetQuestion): Promise<void> {
    this.#ports = await this.#child.ask(question);
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }
}

import type { Random } from '../../src/demo/random.ts';

/** What a backend of the soak has inside. */
export interface ModelLoad {
  readonly queued: number;
  readonly running: number;
  /** 0..1 */
  readonly kv: number;
  /** Requests finished since the start. */
  readonly finished: number;
}

/** Requests that run at a time. */
const SLOTS = 32;
/** The KV cache lasts for some more than those. */
const KV_SLOTS = 36;
/** Requests per second for each backend, if all had equal shares: about half of what they can do. */
const RATE = 2;
/** A request stays so long in the fastest and in the slowest backend. */
const STAY_SECONDS = { least: 4, most: 8 } as const;
/** The load of all rises and falls by this part, in this time. */
const WAVE = { part: 0.3, seconds: 60 } as const;
/** Now and then a backend is slower by this factor for half a minute: it fills up, and is saturated. */
const SLOW = { factor: 6, seconds: 30, onceIn: 60 } as const;

/**
 * The load of a backend, made up: requests that nobody sends come as sidecars would send them by its weight, and leave as an
 * engine with a batch would let them.
 */
export class LoadModel {
  readonly #index: number;
  readonly #random: Random;
  /** Of the requests of all, times the number of backends: 1 is the fair one. */
  share = 1;
  #inside = 0;
  #finished = 0;
  #seconds = 0;

  constructor(index: number, random: Random) {
    this.#index = index;
    this.#random = random;
  }

  /** How it stands so long after the start, not before the last time. */
  at(seconds: number): ModelLoad {
    const elapsed = Math.max(0, seconds - this.#seconds);
    this.#seconds = seconds;
    const wave = 1 + WAVE.part * Math.sin((2 * Math.PI * seconds) / WAVE.seconds);
    const expected = RATE * this.share * wave * elapsed;
    // as many as come by chance, on the average that many
    this.#inside += Math.max(0, expected + Math.sqrt(expected) * this.#random.normal());
    const done = Math.min(
      this.#inside,
      (Math.min(this.#inside, SLOTS) / this.#staySeconds(seconds)) * elapsed,
    );
    this.#inside -= done;
    this.#finished += done;
    const running = Math.min(SLOTS, Math.round(this.#inside));
    const queued = Math.max(0, Math.round(this.#inside) - SLOTS);
    return { running, queued, kv: running / KV_SLOTS, finished: Math.floor(this.#finished) };
  }

  /** It starts anew: nothing is inside, and it counts from 0. */
  restart(): void {
    this.#inside = 0;
    this.#finished = 0;
  }

  #staySeconds(seconds: number): number {
    const { least, most } = STAY_SECONDS;
    const own = least + (most - least) * ((this.#index * 0.618) % 1);
    const phase = Math.floor(seconds / SLOW.seconds);
    const slow = (this.#index * 31 + phase * 17) % SLOW.onceIn === 0;
    return slow ? SLOW.factor * own : own;
  }
}

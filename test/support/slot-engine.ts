import type { Sample } from '../../src/core/model/collection.ts';

/** Of an engine, unless it has others. */
export const SLOTS = 8;
/** How long a request stays at full speed, on average, unless it is another time. */
export const STAY_SECONDS = 2;

/** A request in an engine. */
interface Request {
  /** Seconds at full speed that are left. */
  work: number;
  /** By the engine's own clock. */
  readonly admittedAt: number;
  readonly ended: () => void;
}

/** An engine with slots and a queue; each request needs so many seconds at full speed. */
export class SlotEngine {
  readonly #speed: number;
  readonly #slots: number;
  readonly #fullCacheSeconds: number;
  readonly #queue: Request[] = [];
  #running: Request[] = [];
  #finished = 0;
  #now = 0;
  #latencySeconds = 0;

  /** @param staySeconds what a request needs on average: with three times as much in every slot the KV cache is full */
  constructor(speed: number, slots = SLOTS, staySeconds = STAY_SECONDS) {
    this.#speed = speed;
    this.#slots = slots;
    this.#fullCacheSeconds = 3 * slots * staySeconds;
  }

  admit(work: number, ended: () => void = () => undefined): void {
    this.#queue.push({ work, admittedAt: this.#now, ended });
  }

  tick(seconds: number): void {
    this.#now += seconds;
    for (const request of this.#running) request.work -= seconds * this.#speed;
    for (const request of this.#running) {
      if (request.work > 0) continue;
      this.#latencySeconds += this.#now - request.admittedAt;
      request.ended();
    }
    const left = this.#running.filter(({ work }) => work > 0);
    this.#finished += this.#running.length - left.length;
    this.#running = left;
    while (this.#running.length < this.#slots) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#running.push(next);
    }
  }

  /** Of requests that have finished, from their admission on. */
  get latency(): Sample['latency'] {
    return { sumSeconds: this.#latencySeconds, count: this.#finished };
  }

  /** Without {@link latency}, as engines that have no such histogram. */
  get sample(): Sample {
    const held = this.#running.reduce((sum, { work }) => sum + work, 0);
    return {
      queued: this.#queue.length,
      running: this.#running.length,
      kvUtilization: Math.min(1, held / this.#fullCacheSeconds),
      finished: this.#finished,
      latency: undefined,
    };
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../src/demo/random.ts';
import type { Ledger } from './ledger.ts';
import type { SoakStage } from './soak-stage.ts';

/** What comes and goes all the time, beside the faults: parts of the fleet that are touched, and how often. */
const KILLED = { from: 0.1, to: 0.35, everySeconds: 6, downSeconds: [5, 30], atMost: 5 } as const;
const LEFT_OUT = { from: 0.35, to: 0.6, everySeconds: 20, atMost: 10 } as const;
const RECONNECTED = { everySeconds: 10, atMost: 5, allEverySeconds: 180 } as const;
const LOOK_MS = 1000;
/** A request may be on its way to a backend that was taken out so long before. */
const TAKEN_OUT_MS = 5_000;
/** What is inside a backend when it dies, and what reaches it at that moment. */
const DEATH_MS = 1_000;

export interface ChurnCounts {
  readonly deaths: number;
  readonly reloads: number;
  readonly reconnects: number;
}

/** Backends that die and come back, servers that are taken out and put in by reloads, sidecars that reconnect. */
export class Churn {
  readonly #stage: SoakStage;
  readonly #random: Random;
  readonly #ledger: Ledger;
  /** When each comes back, by index. */
  readonly #dead = new Map<number, number>();
  /** When each was taken out, by index. */
  readonly #out = new Map<number, number>();
  #lastReconnectMs = performance.now();
  #lastFaultMs = 0;
  #pace = 1;
  /** Servers are left alone while a fault goes on: what it does to them is its own. */
  faulty = false;
  counts: ChurnCounts = { deaths: 0, reloads: 0, reconnects: 0 };

  constructor(stage: SoakStage, random: Random, ledger: Ledger) {
    this.#stage = stage;
    this.#random = random;
    this.#ledger = ledger;
  }

  /** Whether a backend may answer what was sent at this time. */
  mayAnswer(backend: string, sentMs: number): boolean {
    const index = this.#stage.fleet.places.findIndex(({ address }) => backend.startsWith(`${address}:`));
    const outMs = this.#out.get(index);
    return (
      index !== -1 &&
      (outMs === undefined || this.faulty || sentMs < Math.max(outMs, this.#lastFaultMs) + TAKEN_OUT_MS)
    );
  }

  /**
   * Goes on until it is aborted, then puts everything back.
   * @param pace how many times as fast as said above
   */
  async run(signal: AbortSignal, pace = 1): Promise<void> {
    this.#pace = pace;
    while (!signal.aborted) {
      if (this.faulty) this.#lastFaultMs = performance.now();
      await this.#bringBack(performance.now());
      if (this.#happens(KILLED.everySeconds)) await this.#kill();
      if (!this.faulty && this.#happens(LEFT_OUT.everySeconds)) await this.#leaveOut();
      await this.#reconnect();
      await delay(LOOK_MS / pace, undefined, { signal }).catch(() => undefined);
    }
    await this.#bringBack(Infinity);
    this.#out.clear();
    await this.#stage.plane.leaveOut([]);
  }

  async #kill(): Promise<void> {
    if (this.#dead.size >= KILLED.atMost) return;
    const index = this.#drawn(KILLED);
    if (this.#dead.has(index)) return;
    const [shortest, longest] = KILLED.downSeconds;
    const nowMs = performance.now();
    const downMs = 1000 * (shortest + (longest - shortest) * this.#random.uniform());
    this.#dead.set(index, nowMs + downMs / this.#pace);
    const { id } = this.#stage.backends[index] ?? { id: '' };
    const end = this.#ledger.begin(
      {
        fault: 'churn: a backend dies',
        own: 'what is inside it, and what reaches it in the second after',
        isOwn: ({ kind, backend }) =>
          (kind === 'broken' || kind === 'unavailable') && (backend === undefined || backend === id),
        afterMs: DEATH_MS,
      },
      nowMs,
    );
    await this.#stage.fleet.tell({ kind: 'close', backends: [index], by: 'churn', closed: true });
    end(performance.now());
    this.counts = { ...this.counts, deaths: this.counts.deaths + 1 };
  }

  async #bringBack(nowMs: number): Promise<void> {
    const back = [...this.#dead].filter(([, untilMs]) => untilMs <= nowMs).map(([index]) => index);
    for (const index of back) this.#dead.delete(index);
    if (back.length > 0)
      await this.#stage.fleet.tell({ kind: 'close', backends: back, by: 'churn', closed: false });
  }

  /** Takes one out or puts one in; the more are out, the likelier one comes in. */
  async #leaveOut(): Promise<void> {
    if (this.#random.uniform() < this.#out.size / LEFT_OUT.atMost) {
      const indexes = [...this.#out.keys()];
      this.#out.delete(indexes[Math.floor(this.#random.uniform() * indexes.length)] ?? -1);
    } else this.#out.set(this.#drawn(LEFT_OUT), performance.now());
    await this.#stage.plane.leaveOut([...this.#out.keys()]);
    this.counts = { ...this.counts, reloads: this.counts.reloads + 1 };
  }

  async #reconnect(): Promise<void> {
    const { sidecars } = this.#stage;
    const nowMs = performance.now();
    const all = nowMs - this.#lastReconnectMs > (1000 * RECONNECTED.allEverySeconds) / this.#pace;
    if (!all && !this.#happens(RECONNECTED.everySeconds)) return;
    const count = all ? sidecars.count : 1 + Math.floor(this.#random.uniform() * RECONNECTED.atMost);
    const first = all ? 0 : Math.floor(this.#random.uniform() * sidecars.count);
    if (all) this.#lastReconnectMs = nowMs;
    await sidecars.reconnect(first, count);
    this.counts = {
      ...this.counts,
      reconnects: this.counts.reconnects + Math.min(count, sidecars.count - first),
    };
  }

  /** At a look, of what happens once in so many seconds. */
  #happens(everySeconds: number): boolean {
    return this.#random.uniform() < LOOK_MS / 1000 / everySeconds;
  }

  #drawn({ from, to }: { readonly from: number; readonly to: number }): number {
    return Math.floor(this.#stage.backends.length * (from + (to - from) * this.#random.uniform()));
  }
}

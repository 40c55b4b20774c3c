import { type Clock, sleep } from '../runtime/clock.ts';

/** So large a part of a group says how long an answer takes. */
const USUAL_PART = 0.75;
/** How much longer than it usually takes an answer is waited for. */
const PATIENCE = 2;

export interface GatheringOptions {
  readonly clock: Clock;
  /** How many are waited for. */
  readonly expected: number;
  /** It ends then at the latest. */
  readonly limitMs: number;
  /** The least that an answer is waited for. undefined: all are waited for until the limit. */
  readonly leastMs: number | undefined;
}

/**
 * The wait for the answers of one run. It ends when all that are expected have answered or failed, or at the limit;
 * and earlier when the last ones have had twice the time that three quarters took. So a few that are slow hold up
 * the others for a moment only, and where all are slow all are waited for.
 */
export class Gathering {
  readonly #options: GatheringOptions;
  readonly #over = new AbortController();
  readonly #durationsMs: number[] = [];
  #failed = 0;
  #askedAtMs: number | undefined;
  #cancelEnd: (() => void) | undefined;

  constructor(options: GatheringOptions) {
    this.#options = options;
  }

  /**
   * One of those that are expected has answered, or failed.
   * @param durationMs from when it was asked; undefined: it failed, which says nothing of how long an answer takes.
   */
  settled(durationMs: number | undefined): void {
    if (durationMs === undefined) this.#failed++;
    else this.#durationsMs.push(durationMs);
    this.#consider();
  }

  /** The last one has been asked. */
  allAsked(): void {
    this.#askedAtMs = this.#options.clock.now();
    this.#consider();
  }

  /** Resolves when it is over. To be called once. */
  async end(): Promise<void> {
    const { clock, expected, limitMs } = this.#options;
    if (expected === 0) this.#over.abort();
    await sleep(clock, limitMs, this.#over.signal);
    this.#over.abort();
    this.#cancelEnd?.();
  }

  /** How long three quarters have taken to answer; undefined: fewer have. Those that failed are not counted. */
  get usualMs(): number | undefined {
    const rank = Math.max(1, Math.floor(USUAL_PART * (this.#options.expected - this.#failed)));
    if (this.#durationsMs.length < rank) return undefined;
    return Float64Array.from(this.#durationsMs).sort()[rank - 1];
  }

  #consider(): void {
    const { clock, expected, leastMs } = this.#options;
    if (this.#over.signal.aborted) return;
    if (this.#durationsMs.length + this.#failed >= expected) {
      this.#over.abort();
      return;
    }
    if (leastMs === undefined || this.#cancelEnd !== undefined || this.#askedAtMs === undefined) return;
    const { usualMs } = this;
    if (usualMs === undefined) return;
    const endMs = this.#askedAtMs + patienceMs(usualMs, leastMs);
    this.#cancelEnd = clock.schedule(Math.max(0, endMs - clock.now()), () => {
      this.#over.abort();
    });
  }
}

/** How long an answer is waited for where one usually takes `usualMs`. */
export function patienceMs(usualMs: number, leastMs: number): number {
  return Math.max(PATIENCE * usualMs, leastMs);
}

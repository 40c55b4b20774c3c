/** Lets `perSecond` pass in a second, and as many at once, or `atOnce`. It holds no timer: the time is an argument. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #atOnce: number;
  #tokens: number;
  #atMs: number;

  /**
   * @param perSecond above 0.
   * @param atOnce at least 1 for anything to pass.
   */
  constructor(perSecond: number, nowMs: number, atOnce = perSecond) {
    this.#perSecond = perSecond;
    this.#atOnce = atOnce;
    this.#tokens = atOnce;
    this.#atMs = nowMs;
  }

  /** @returns whether so many more may pass. What is refused costs nothing. */
  take(nowMs: number, tokens = 1): boolean {
    if (!this.has(nowMs, tokens)) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Whether so many more may pass. */
  has(nowMs: number, tokens = 1): boolean {
    this.#refill(nowMs);
    return this.#tokens >= tokens;
  }

  /** Whether it is as if nothing had ever passed. */
  isFull(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens === this.#atOnce;
  }

  #refill(nowMs: number): void {
    const refill = ((nowMs - this.#atMs) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#atOnce, this.#tokens + refill);
    this.#atMs = nowMs;
  }
}

/** Lets `perSecond` events pass in a second, up to as many at once. It holds no timer: the time is an argument. */
export class TokenBucket {
  readonly #perSecond: number;
  #tokens: number;
  #atMs: number;

  /** @param perSecond above 0; at least 1 for anything to pass. */
  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#tokens = perSecond;
    this.#atMs = nowMs;
  }

  /** @returns whether one more event may pass. What is refused costs nothing. */
  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Whether it is as if nothing had ever passed. */
  isFull(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens === this.#perSecond;
  }

  #refill(nowMs: number): void {
    const refill = ((nowMs - this.#atMs) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#perSecond, this.#tokens + refill);
    this.#atMs = nowMs;
  }
}

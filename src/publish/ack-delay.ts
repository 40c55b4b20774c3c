import { LEAST_DELAY_SECONDS, observeDelay } from '../core/delay.ts';

/** Publishes that are waited for at once; the oldest is forgotten beyond. */
const AWAITED_MAX = 16;
/** An acknowledgement that takes longer tells of a sidecar that was away, not of the way there. */
const AWAITED_MS = 30_000;
/**
 * What was observed fades with this time constant: a long delay makes weights follow the load so little that there may be
 * nothing to publish, and nothing to tell that it is over.
 */
const FADING_MS = 120_000;

interface Awaited {
  readonly versions: ReadonlySet<string>;
  readonly publishedAtMs: number;
  readonly collectionStartedAtMs: number;
}

/** How long it takes from the start of a collection until the first sidecar has taken what it changed. */
export class AckDelay {
  /** Oldest first. */
  #awaited: readonly Awaited[] = [];
  /** As of the latest observation. */
  #seconds = LEAST_DELAY_SECONDS;
  #observedAtMs = 0;

  /** Moving average; at least {@link LEAST_DELAY_SECONDS}, which also holds as long as no sidecar has said anything. */
  secondsAt(nowMs: number): number {
    const kept = Math.exp(-Math.max(0, nowMs - this.#observedAtMs) / FADING_MS);
    return LEAST_DELAY_SECONDS + kept * (this.#seconds - LEAST_DELAY_SECONDS);
  }

  /** @param versions what sidecars were told: one where all are told the same. */
  published(versions: ReadonlySet<string>, collectionStartedAtMs: number, nowMs: number): void {
    const published = { versions, publishedAtMs: nowMs, collectionStartedAtMs };
    this.#awaited = [...this.#awaited.slice(1 - AWAITED_MAX), published];
  }

  /**
   * @param subscribedAtMs since when this sidecar has been asking: one that came after the publish tells nothing
   * @returns the delay in seconds, if this is the first acknowledgement of this version or a later one
   */
  acknowledged(version: string, subscribedAtMs: number, atMs: number): number | undefined {
    const place = this.#awaited.findLastIndex(({ versions }) => versions.has(version));
    const awaited = this.#awaited[place];
    if (awaited === undefined || subscribedAtMs > awaited.publishedAtMs) return undefined;
    this.#awaited = this.#awaited.slice(place + 1);
    if (atMs - awaited.publishedAtMs > AWAITED_MS) return undefined;
    const seconds = (atMs - awaited.collectionStartedAtMs) / 1000;
    this.#seconds = observeDelay(this.secondsAt(atMs), seconds);
    this.#observedAtMs = atMs;
    return seconds;
  }
}

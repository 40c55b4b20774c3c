import {
  ApplyDelay,
  type ApplyObserver,
  type Span,
  type StreamKey,
  type StreamCounts,
} from './apply-delay.ts';
import type { ZoneVersions } from './zone-endpoints.ts';

/** What a group's sidecars were told, by its version. */
export interface ToldVersions {
  readonly version: string;
  readonly changed: boolean;
  readonly zones: ZoneVersions;
}

/** Of all sidecars that are told the same as everybody. */
const EVERYBODY = '';

/**
 * {@link ApplyDelay} for each set of sidecars that are told the same: those of a zone with an assignment of its own, and
 * all others. When zones come or go, streams are followed anew from their next acknowledgement on.
 */
export class ZoneDelays {
  readonly #observer: ApplyObserver;
  #delays = new Map<string, ApplyDelay>();

  constructor(observer: ApplyObserver) {
    this.#observer = observer;
    this.#delays.set(EVERYBODY, new ApplyDelay(observer));
  }

  get streams(): StreamCounts {
    let [following, current] = [0, 0];
    for (const { streams } of this.#delays.values()) {
      following += streams.following;
      current += streams.current;
    }
    return { following, current };
  }

  /** @param run undefined: it was not a collection that caused it. */
  published({ version, changed, zones }: ToldVersions, run: Span | undefined, nowMs: number): void {
    this.#follow(zones);
    if (changed) this.#delays.get(EVERYBODY)?.published(version, run, nowMs);
    for (const [zone, of] of zones) {
      if (of.changed) this.#delays.get(zone)?.published(of.version, run, nowMs);
    }
  }

  /** @param zone where the sidecar says that it is; empty: it does not. */
  acknowledged(zone: string, stream: StreamKey, version: string, atMs: number): void {
    const delay = this.#delays.get(zone) ?? this.#delays.get(EVERYBODY);
    delay?.acknowledged(stream, version, atMs);
  }

  rejected(stream: StreamKey, version: string): void {
    for (const delay of this.#delays.values()) delay.rejected(stream, version);
  }

  left(stream: StreamKey): void {
    for (const delay of this.#delays.values()) delay.left(stream);
  }

  sweep(nowMs: number): void {
    for (const delay of this.#delays.values()) delay.sweep(nowMs);
  }

  #follow(zones: ZoneVersions): void {
    if (zones.size === this.#delays.size - 1 && [...zones.keys()].every((zone) => this.#delays.has(zone)))
      return;
    this.#delays = new Map(
      [EVERYBODY, ...zones.keys()].map((zone) => [zone, new ApplyDelay(this.#observer)]),
    );
  }
}

import type { GoneSidecar, SidecarStream } from './sidecar-survey.ts';

/** For so long they are told of. */
const KEPT_MS = 5 * 60_000;
/** As many are known by name. */
const KEPT_MAX = 100;

/**
 * Sidecars that were lost while they were behind: one that is cut off or hangs goes on with its older weights, and no
 * connection says so any more. Bounded, whoever comes and goes.
 */
export class GoneSidecars {
  /** The latest last. */
  #kept: GoneSidecar[] = [];
  #total = 0;

  /** Since the start. */
  get total(): number {
    return this.#total;
  }

  add(gone: GoneSidecar): void {
    this.#total++;
    this.#kept.push(gone);
    if (this.#kept.length > KEPT_MAX) this.#kept.shift();
  }

  /** Who has come back is told of no more. */
  joined({ node, cluster, identity }: SidecarStream): void {
    if (this.#kept.length === 0) return;
    const place = this.#kept.findIndex(
      ({ of }) => of.node === node && of.cluster === cluster && of.identity === identity,
    );
    if (place >= 0) this.#kept.splice(place, 1);
  }

  /** Those of the last 5 minutes that have not come back, the latest first. */
  at(nowMs: number): readonly GoneSidecar[] {
    this.#kept = this.#kept.filter(({ atMs }) => nowMs - atMs < KEPT_MS);
    return this.#kept.toReversed();
  }
}

import type { ControlPlane } from '../../../src/demo/control-plane.ts';
import { readPlaneMetrics } from '../../../src/demo/plane-metrics.ts';
import type { ControlPlaneFigures } from './model.ts';
import { SERVER_GROUP } from './plimsoll-config.ts';
import { processorSeconds } from './processor-time.ts';

const PUSHES = /^plimsoll_server_group_pushes_total\{[^}]*\} (\S+)$/gm;
const DELAYS = /^plimsoll_server_group_apply_delay_seconds_bucket\{[^}]*le="([^"]+)"[^}]*\} (\S+)$/gm;

/** What Plimsoll's metrics page tells, read once a second over the counted time. */
export class ControlPlaneWatch {
  readonly #plane: ControlPlane;
  #page = '';
  #first: { readonly page: string; readonly cpuSeconds: number } | undefined;
  #health = new Map<string, string>();
  #flips = 0;
  readonly #shares = new Map<string, number>();
  #looks = 0;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  async look(): Promise<void> {
    this.#page = await this.#plane.metrics();
    this.#first ??= { page: this.#page, cpuSeconds: processorSeconds([this.#plane.pid]) };
    const { backends } = readPlaneMetrics(this.#page, SERVER_GROUP);
    const health = new Map([...backends].map(([id, backend]) => [id, backend.health ?? '']));
    for (const [id, before] of this.#health) {
      const now = health.get(id);
      if (now !== undefined && now !== before) this.#flips++;
    }
    this.#health = health;
    this.#addShares(
      [...backends].map(([id, { weight = 0 }]) => [id, health.get(id) === 'HEALTHY' ? weight : 0]),
    );
  }

  /** Ends the counted time; {@link look} has been called at its beginning. */
  async figures(): Promise<ControlPlaneFigures> {
    await this.look();
    const cpuSeconds = processorSeconds([this.#plane.pid]) - (this.#first?.cpuSeconds ?? 0);
    return { ...figuresBetween(this.#first?.page ?? '', this.#page), healthFlips: this.#flips, cpuSeconds };
  }

  /** Mean share of the published weights of healthy backends, by backend; undefined: none were. */
  published(ids: readonly string[]): readonly number[] | undefined {
    if (this.#looks === 0) return undefined;
    return ids.map((id) => (this.#shares.get(id) ?? 0) / this.#looks);
  }

  #addShares(weights: readonly (readonly [id: string, weight: number])[]): void {
    const sum = weights.reduce((total, [, weight]) => total + weight, 0);
    if (sum === 0) return;
    this.#looks++;
    for (const [id, weight] of weights) this.#shares.set(id, (this.#shares.get(id) ?? 0) + weight / sum);
  }
}

/** What happened between two readings of the metrics page. */
export function figuresBetween(
  before: string,
  after: string,
): Pick<ControlPlaneFigures, 'pushes' | 'delayP50' | 'delayP99'> {
  const delays = difference(buckets(after), buckets(before));
  return {
    pushes: pushesIn(after) - pushesIn(before),
    delayP50: quantileOf(delays, 0.5),
    delayP99: quantileOf(delays, 0.99),
  };
}

function pushesIn(page: string): number {
  return [...page.matchAll(PUSHES)].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** A cumulative histogram: how many were at most `le`, in the order of `le`. */
type Buckets = readonly { readonly le: number; readonly count: number }[];

function buckets(page: string): Buckets {
  return [...page.matchAll(DELAYS)].map(([, le, count]) => ({
    le: le === '+Inf' ? Infinity : Number(le),
    count: Number(count),
  }));
}

function difference(after: Buckets, before: Buckets): Buckets {
  return after.map(({ le, count }) => ({
    le,
    count: count - (before.find((bucket) => bucket.le === le)?.count ?? 0),
  }));
}

/** As Prometheus estimates it: evenly spread within a bucket; null: there is none. */
function quantileOf(all: Buckets, q: number): number | null {
  const total = all.at(-1)?.count ?? 0;
  if (total === 0) return null;
  const index = all.findIndex(({ count }) => count >= q * total);
  const { le, count } = all[index]!;
  const below = all[index - 1] ?? { le: 0, count: 0 };
  if (le === Infinity) return below.le;
  return below.le + ((le - below.le) * (q * total - below.count)) / (count - below.count);
}

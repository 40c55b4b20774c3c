import type { Assignment } from '../core/model/assignment.ts';
import type { BackendId } from '../core/model/backend.ts';
import type { PublishReason } from '../core/model/decision.ts';
import type { ReplayStep } from './group-replay.ts';
import { Series, type Span } from './series.ts';
import { endpointIds, sharesOf } from './shares.ts';

/** Of one backend, by what was published or by what would have been. */
export interface ShareFigures {
  /** Expected share of the requests that are not refused, 0..1, over the evaluations. */
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  /** In which part of the evaluations it was UNHEALTHY. */
  readonly saturatedRatio: number;
}

/** Of one group. */
export interface SideFigures {
  readonly refusedShare: { readonly mean: number; readonly max: number };
  /** In which part of the evaluations every backend was UNHEALTHY. */
  readonly allSaturatedRatio: number;
  readonly pushes: number;
  readonly pushesByReason: Readonly<Partial<Record<PublishReason, number>>>;
}

class Moments {
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  add(value: number): void {
    this.#count++;
    this.#sum += value;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
  }

  get figures(): { readonly mean: number; readonly min: number; readonly max: number } {
    if (this.#count === 0) return { mean: 0, min: 0, max: 0 };
    return { mean: this.#sum / this.#count, min: this.#min, max: this.#max };
  }
}

class BackendTally {
  readonly share = new Moments();
  readonly saturated = new Moments();
  readonly course: Series;

  constructor(span: Span) {
    this.course = new Series(span);
  }
}

/** Sums up one side of a replay: what was, or what would have been. */
export class Tally {
  readonly backends = new Map<BackendId, BackendTally>();
  readonly refused: Series;
  readonly saturated: Series;
  readonly #span: Span;
  readonly #refused = new Moments();
  readonly #allSaturated = new Moments();
  readonly #pushes = new Map<PublishReason, number>();

  constructor(ids: readonly BackendId[], span: Span) {
    this.#span = span;
    this.refused = new Series(span);
    this.saturated = new Series(span);
    for (const id of ids) this.backends.set(id, new BackendTally(span));
  }

  /** @param because it went out just now. @param at Unix milliseconds. */
  add(assignment: Assignment, because: PublishReason | undefined, at: number): void {
    const shares = sharesOf(assignment);
    const out = new Set(endpointIds(assignment, ({ health }) => health === 'UNHEALTHY'));
    for (const [id, tally] of this.backends) {
      const share = shares.get(id) ?? 0;
      tally.share.add(share);
      tally.course.add(at, share);
      tally.saturated.add(Number(out.has(id)));
    }
    this.#refused.add(assignment.dropShare);
    this.refused.add(at, assignment.dropShare);
    this.saturated.add(at, out.size);
    const taking = assignment.endpoints.filter(({ health }) => health !== 'DRAINING');
    this.#allSaturated.add(Number(out.size > 0 && out.size === taking.length));
    if (because !== undefined) this.#pushes.set(because, (this.#pushes.get(because) ?? 0) + 1);
  }

  shareOf(id: BackendId): ShareFigures {
    const tally = this.backends.get(id) ?? new BackendTally(this.#span);
    return { ...tally.share.figures, saturatedRatio: tally.saturated.figures.mean };
  }

  get figures(): SideFigures {
    const { mean, max } = this.#refused.figures;
    return {
      refusedShare: { mean, max },
      allSaturatedRatio: this.#allSaturated.figures.mean,
      pushes: [...this.#pushes.values()].reduce((sum, count) => sum + count, 0),
      pushesByReason: Object.fromEntries(this.#pushes),
    };
  }
}

/** How much two sides differ. */
export class Difference {
  readonly #moved = new Moments();
  #same = 0;
  #closed = 0;
  #count = 0;

  add({ was, would, closed }: ReplayStep): void {
    this.#count++;
    if (closed) this.#closed++;
    if (isSame(was, would)) this.#same++;
    const [before, after] = [sharesOf(was), sharesOf(would)];
    let moved = 0;
    for (const id of new Set([...before.keys(), ...after.keys()])) {
      moved += Math.abs((before.get(id) ?? 0) - (after.get(id) ?? 0));
    }
    this.#moved.add(moved / 2);
  }

  get figures() {
    return {
      evaluations: this.#count,
      /** Evaluations after which both have the same weights to the last digit, health, and refused share. */
      identical: this.#same,
      /** Evaluations whose samples answered to much the same weights, so that capacities were learned from them. */
      learning: this.#closed,
      /** Part of the requests that would have gone elsewhere, 0..1, over the evaluations. */
      movedShareRatio: this.#moved.figures.mean,
    };
  }
}

function isSame(one: Assignment, other: Assignment): boolean {
  return (
    one.dropShare === other.dropShare &&
    one.endpoints.length === other.endpoints.length &&
    one.endpoints.every(({ address, port, weight, health }, position) => {
      const of = other.endpoints[position];
      return of?.address === address && of.port === port && of.weight === weight && of.health === health;
    })
  );
}

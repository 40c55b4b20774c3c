import { at } from './at.ts';
import { weightBasisOf } from './basis.ts';
import type { Endpoint, EndpointHealth } from './model/assignment.ts';
import type { Backend } from './model/backend.ts';
import type { WeightBasis } from './model/basis.ts';
import type { EngineName } from './model/collect-settings.ts';
import type { CollectFailure, Sample } from './model/collection.ts';
import type { BackendDecision, MarkCause, SampleUse } from './model/decision.ts';
import type { Outcome } from './outcome.ts';
import { reasonsOf } from './reasons.ts';
import { slowStartLimit } from './slow-start.ts';

interface Totals {
  /** Mean weight of those in the assignment, undithered. */
  readonly mean: number;
  /** Published weight of the healthy. */
  readonly healthy: number;
}

/** What becomes of each backend and why, in the group's order. */
export function backendDecisions(outcome: Outcome): readonly BackendDecision[] {
  const { roster, weighing, published } = outcome;
  const { endpoints } = published.assignment;
  const sum = weighing.weights.reduce((total, weight) => total + weight, 0);
  const totals = {
    mean: sum / weighing.weights.reduce((count, weight) => count + Number(weight > 0), 0),
    healthy: endpoints.reduce((total, of) => total + (of.health === 'HEALTHY' ? of.weight : 0), 0),
  };
  let position = 0;
  const decisions = roster.backends.map((backend, index) => {
    const isIn = at(weighing.weights, index) > 0 || at(outcome.freshness.uses, index) === 'draining';
    const endpoint = isIn ? endpoints[position++] : undefined;
    return new OutcomeForBackend(outcome, backend, index, endpoint, totals);
  });
  return roster.servers.map((_, place) => at(decisions, at(roster.positions, place)));
}

/** Reasons and basis are made only when they are read: in a large group each costs as much as all the rest. */
class OutcomeForBackend implements BackendDecision {
  readonly backend: Backend;
  readonly sample: Sample | undefined;
  readonly sampleAgeMs: number | undefined;
  readonly engine: EngineName | undefined;
  readonly use: SampleUse;
  readonly missed: number;
  readonly failure: CollectFailure | undefined;
  readonly score: number | undefined;
  readonly deviation: number;
  readonly capacity: number;
  readonly relativeWeight: number;
  readonly slowStart: number | undefined;
  readonly saturated: boolean;
  readonly frozen: boolean;
  readonly doubted: boolean;
  readonly health: EndpointHealth | undefined;
  readonly weight: number;
  readonly share: number;
  readonly #outcome: Outcome;
  readonly #index: number;

  constructor(
    outcome: Outcome,
    backend: Backend,
    index: number,
    endpoint: Endpoint | undefined,
    totals: Totals,
  ) {
    const { settings, nowMs, memories, freshness, weighing } = outcome;
    const memory = at(memories, index);
    const score = at(weighing.scores, index);
    this.#outcome = outcome;
    this.#index = index;
    this.backend = backend;
    this.sample = memory.sample;
    this.sampleAgeMs = memory.sample && nowMs - memory.sampledAtMs;
    this.engine = memory.engine;
    this.use = at(freshness.uses, index);
    this.missed = memory.missed;
    this.failure = memory.failure;
    this.score = Number.isNaN(score) ? undefined : 100 * score;
    this.deviation = at(weighing.deviations, index);
    this.capacity = settings?.balance.policy === 'Adaptive' ? at(weighing.capacities.products, index) : 1;
    const weight = at(weighing.weights, index);
    this.relativeWeight = weight === 0 ? 0 : weight / totals.mean;
    this.slowStart = weight === 0 ? undefined : slowStartLimit(memory.joinedAtMs, nowMs);
    this.saturated = endpoint?.health === 'UNHEALTHY';
    this.frozen = memory.frozen;
    this.doubted = at(outcome.doubted, index) === 1;
    this.health = endpoint?.health;
    this.weight = endpoint?.weight ?? 0;
    this.share = endpoint?.health === 'HEALTHY' ? endpoint.weight / totals.healthy : 0;
  }

  get markCause(): MarkCause | undefined {
    return at(this.#outcome.memories, this.#index).mark.cause;
  }

  get reasons(): readonly string[] {
    return reasonsOf(this, this.#outcome, this.#index);
  }

  get basis(): WeightBasis {
    return weightBasisOf(this.#outcome, this.#index);
  }
}

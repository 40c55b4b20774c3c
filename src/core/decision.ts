import { at } from './at.ts';
import { weightBasisOf } from './basis.ts';
import type {
  Backend,
  BackendDecision,
  CollectFailure,
  Endpoint,
  EndpointHealth,
  EngineName,
  MarkCause,
  Sample,
  SampleUse,
  WeightBasis,
} from './model.ts';
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
  const totals = {
    mean: weighing.weights.reduce((sum, weight) => sum + weight, 0) / endpoints.length,
    healthy: endpoints.reduce((sum, { weight, health }) => sum + (health === 'HEALTHY' ? weight : 0), 0),
  };
  let position = 0;
  const decisions = roster.backends.map((backend, index) => {
    const endpoint = at(weighing.weights, index) === 0 ? undefined : endpoints[position++];
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
    this.relativeWeight = endpoint === undefined ? 0 : at(weighing.weights, index) / totals.mean;
    this.slowStart = endpoint && slowStartLimit(memory.joinedAtMs, nowMs);
    this.saturated = endpoint?.health === 'UNHEALTHY';
    this.frozen = memory.frozen;
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

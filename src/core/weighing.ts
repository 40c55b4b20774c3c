import { at } from './at.ts';
import { learnCapacities } from './capacity.ts';
import type { Freshness } from './freshness.ts';
import { limitToTrickle } from './frozen.ts';
import { gainOf } from './gain.ts';
import { commonMetrics, type Loads, loadsOf } from './loads.ts';
import type { BackendMemory } from './memory.ts';
import type { LoadAwareSettings, ScorerName, ServerGroup } from './model.ts';
import { adaptiveFactor, deviations } from './policies/adaptive.ts';
import { linearFactor, meanScore } from './policies/linear.ts';
import type { Roster } from './roster.ts';
import { linearScores } from './scorers/linear-score.ts';
import { lackingScorers, type WeighedSignal, weighedSignals } from './scorers/weighed.ts';
import { limitNewcomers, slowStartLimit } from './slow-start.ts';

/** What the load came to, per backend in roster order. */
export interface Weighing {
  /** w of the rule; 0: not in the assignment. */
  readonly weights: Float64Array;
  readonly gain: number;
  /** e of the rule; 0 where the policy does not use it. */
  readonly deviations: Float64Array;
  /** What the load makes of a backend's share, before slow start; 1 where it is not weighed. */
  readonly factors: Float64Array;
  /** Linear scores, 0..1; NaN where no load was compared. */
  readonly scores: Float64Array;
  /** The learned ones that are remembered, whether the policy uses them or not. */
  readonly capacities: Float64Array;
  /** undefined: no load was compared. */
  readonly loads: Loads | undefined;
  /** Scorers with weight whose metric is not to be had. */
  readonly lacking: readonly ScorerName[];
}

export interface WeighingInput {
  readonly group: ServerGroup;
  readonly settings: LoadAwareSettings;
  readonly nowMs: number;
  readonly delaySeconds: number;
  readonly staySeconds: number;
  readonly roster: Roster;
  readonly memories: readonly BackendMemory[];
  readonly freshness: Freshness;
  /** As learned until the previous evaluation, in roster order. */
  readonly capacities: Float64Array;
}

/** Weights that do not follow the load: `weights` as they are. */
export function unweighed(weights: Float64Array, capacities: Float64Array): Weighing {
  const size = weights.length;
  return {
    weights,
    gain: 0,
    deviations: new Float64Array(size),
    factors: new Float64Array(size).fill(1),
    scores: new Float64Array(size).fill(Number.NaN),
    capacities,
    loads: undefined,
    lacking: [],
  };
}

/** Weights of a group that is seen: at least one sample is usable. */
export function weigh(input: WeighingInput): Weighing {
  const { settings, roster, memories, freshness, nowMs } = input;
  const metrics = commonMetrics(memories, freshness.uses);
  const signals = weighedSignals(settings.balance.scorers, metrics);
  const weighing =
    signals.length === 0
      ? unweighed(configuredWeights(roster, freshness), input.capacities)
      : weighByPolicy(input, loadsOf(roster, memories, freshness.uses), signals);
  const isFrozen = (index: number): boolean => at(freshness.uses, index) === 'frozen';
  const limitOf = (index: number) => slowStartLimit(at(memories, index).joinedAtMs, nowMs);
  limitNewcomers(weighing.weights, roster.shares, limitOf, isFrozen);
  limitToTrickle(weighing.weights, isFrozen);
  return { ...weighing, lacking: lackingScorers(settings.balance.scorers, metrics) };
}

/** c of the rule for every backend that belongs into the assignment. */
export function configuredWeights({ shares }: Roster, { uses }: Freshness): Float64Array {
  return shares.map((share, index) => (at(uses, index) === 'removed' ? 0 : share));
}

function weighByPolicy(input: WeighingInput, loads: Loads, signals: readonly WeighedSignal[]): Weighing {
  const { group, settings, delaySeconds, staySeconds, freshness } = input;
  const gain = gainOf({
    meanInside: loads.means.inside,
    intervalSeconds: settings.collect.intervalSeconds,
    delaySeconds,
    staySeconds,
    envoyLbPolicy: group.envoyLbPolicy,
  });
  const scores = linearScores(loads, freshness.uses, signals);
  switch (settings.balance.policy) {
    case 'Adaptive':
      return weighAdaptively(input, loads, signals, gain, scores);
    case 'Linear':
      return weighLinearly(input, loads, gain, scores);
  }
}

function weighAdaptively(
  input: WeighingInput,
  loads: Loads,
  signals: readonly WeighedSignal[],
  gain: number,
  scores: Float64Array,
): Weighing {
  const { settings, roster, memories, freshness, nowMs } = input;
  const differences = deviations(loads, signals);
  const capacities = learnCapacities(
    input.capacities,
    differences,
    roster.shares,
    (index) =>
      at(freshness.uses, index) === 'fresh' &&
      slowStartLimit(at(memories, index).joinedAtMs, nowMs) === undefined,
    settings.collect.intervalSeconds,
  );
  const factors = differences.map((deviation) => adaptiveFactor(deviation, gain));
  const weights = configuredWeights(roster, freshness).map(
    (share, index) => share * at(capacities, index) * at(factors, index),
  );
  return { ...unweighed(weights, capacities), gain, deviations: differences, factors, scores, loads };
}

function weighLinearly(input: WeighingInput, loads: Loads, gain: number, scores: Float64Array): Weighing {
  const { roster, freshness, capacities } = input;
  const mean = meanScore(scores, freshness.uses);
  const factors = scores.map((score) => (Number.isNaN(score) ? 1 : linearFactor(score, mean, gain)));
  const weights = configuredWeights(roster, freshness).map((share, index) => share * at(factors, index));
  return { ...unweighed(weights, capacities), gain, factors, scores, loads };
}

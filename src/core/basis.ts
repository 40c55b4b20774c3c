import { at } from './at.ts';
import { meanOfActive } from './capacity.ts';
import { weightScale } from './dither.ts';
import type { GroupBasis, SignalBasis, SignalValue, WeightBasis } from './model/basis.ts';
import type { Outcome } from './outcome.ts';
import { ADAPTIVE_BOUNDS, unboundedAdaptiveFactor } from './policies/adaptive.ts';
import { LINEAR_BOUNDS, meanScore, unboundedLinearFactor } from './policies/linear.ts';
import { scoreRange, scoreWithin } from './scorers/linear-score.ts';
import { slowStartLimit } from './slow-start.ts';
import { isMeasured } from './trust.ts';

/** What the weights of an evaluation were computed from, as far as it is the same for every backend. */
export function groupBasisOf(outcome: Outcome): GroupBasis {
  const { group, settings, freshness, weighing } = outcome;
  const compared = weighing.loads !== undefined;
  const policy = settings?.balance.policy;
  const count = weighing.weights.reduce((sum, weight) => sum + (weight > 0 ? 1 : 0), 0);
  const total = weighing.weights.reduce((sum, weight) => sum + weight, 0);
  return {
    policy,
    envoyLbPolicy: group.envoyLbPolicy,
    saturation: settings?.balance.saturation,
    signals: signalBases(outcome),
    mostQueued: weighing.loads?.mostQueued,
    gain: weighing.gainBasis,
    speed: usesCapacity(outcome) ? weighing.capacities.speeds.basis : undefined,
    meanCapacity: usesCapacity(outcome) ? meanCapacity(outcome) : 1,
    meanScore: compared && policy === 'Linear' ? 100 * meanScore(weighing.scores, freshness.uses) : undefined,
    loadFactorBounds: compared ? (policy === 'Linear' ? LINEAR_BOUNDS : ADAPTIVE_BOUNDS) : undefined,
    alike: weighing.alike,
    meanWeight: count === 0 ? 0 : total / count,
    scale: weightScale(count),
  };
}

function signalBases({ weighing: { loads, signals }, freshness }: Outcome): readonly SignalBasis[] {
  if (loads === undefined) return [];
  return signals.map(({ signal, part }) => ({
    name: signal.name,
    part,
    mean: signal.mean(loads.means),
    scale: signal.scale(loads.means),
    ...scoreRange(signal, loads, freshness.uses),
  }));
}

/**
 * What the weight of one backend was computed from.
 * @param index in the roster
 */
export function weightBasisOf(outcome: Outcome, index: number): WeightBasis {
  const { roster, freshness, weighing } = outcome;
  const group = outcome.basis();
  const weight = at(weighing.weights, index);
  const learned = usesCapacity(outcome);
  const { products, residuals, speeds } = weighing.capacities;
  return {
    configuredShare: at(roster.shares, index),
    signals: signalValues(outcome, group, index),
    capacity: learned ? at(products, index) : 1,
    residual: learned ? at(residuals, index) : 1,
    speed: learned ? at(speeds.values, index) : 1,
    pace: group.speed === undefined ? undefined : paceOf(outcome, index),
    intake: isMeasured(at(outcome.memories, index)) ? outcome.intakes()(index) : undefined,
    prompts: weighing.prompts[index],
    unboundedLoadFactor: unboundedFactor(outcome, group, index),
    loadFactor: at(weighing.factors, index),
    kept: freshness.kind === 'kept' && weight > 0 ? weight : undefined,
    slowStart: weight === 0 ? undefined : slowStartOf(outcome, index),
    trickle: trickleOf(outcome, index),
    weight,
    unditheredWeight: weight === 0 ? 0 : (group.scale * weight) / group.meanWeight,
  };
}

function usesCapacity({ weighing, settings }: Outcome): boolean {
  return weighing.loads !== undefined && settings?.balance.policy === 'Adaptive';
}

function meanCapacity({ roster, weighing: { capacities } }: Outcome): number {
  const { residuals, speeds } = capacities;
  return meanOfActive(
    residuals.map((residual, index) => residual * at(speeds.values, index)),
    roster.shares,
  );
}

function paceOf({ paces, weighing }: Outcome, index: number): WeightBasis['pace'] {
  if (at(weighing.capacities.speeds.compared, index) === 0) return undefined;
  return { finished: at(paces.finished, index), runningSeconds: at(paces.runningSeconds, index) };
}

function signalValues({ weighing }: Outcome, group: GroupBasis, index: number): readonly SignalValue[] {
  const { loads } = weighing;
  if (loads === undefined || Number.isNaN(at(loads.inside, index))) return [];
  return weighing.signals.map(({ signal }, place) => {
    const basis = at(group.signals, place);
    const value = at(signal.values(loads), index);
    return {
      name: signal.name,
      value,
      deviation: (basis.part * (basis.mean - value)) / basis.scale,
      score: 100 * scoreWithin(basis, value),
    };
  });
}

function unboundedFactor({ weighing }: Outcome, { policy, meanScore: mean }: GroupBasis, index: number) {
  const score = at(weighing.scores, index);
  if (weighing.loads === undefined || Number.isNaN(score)) return 1;
  return policy === 'Linear'
    ? unboundedLinearFactor(score, (mean ?? 0) / 100, weighing.gain)
    : unboundedAdaptiveFactor(at(weighing.deviations, index), weighing.gain);
}

function slowStartOf({ roster, memories, freshness, weighing, nowMs }: Outcome, index: number) {
  const { joinedAtMs } = at(memories, index);
  const limit = slowStartLimit(joinedAtMs, nowMs);
  if (joinedAtMs === undefined || limit === undefined) return undefined;
  const measure = at(freshness.uses, index) === 'frozen' ? undefined : weighing.newcomerMeasure;
  const most = measure === undefined ? undefined : at(roster.shares, index) * measure * limit;
  return { ageMs: nowMs - joinedAtMs, limit, measure, most };
}

function trickleOf({ memories, freshness, weighing, nowMs }: Outcome, index: number) {
  if (at(freshness.uses, index) !== 'frozen' || weighing.trickle === undefined) return undefined;
  return { steadyMs: nowMs - at(memories, index).steadySinceMs, most: weighing.trickle };
}

import { areAlikeForAllThatIsKnown } from './alike.ts';
import { at } from './at.ts';
import { type Capacities, capacitiesOf, learnResiduals, teachable } from './capacity.ts';
import { type Freshness, isUsable } from './freshness.ts';
import { limitToTrickle } from './frozen.ts';
import { gainBasis } from './gain.ts';
import { commonMetrics, type Loads, loadsOf } from './loads.ts';
import type { BackendMemory } from './memory.ts';
import type { ScorerName } from './model/balance-settings.ts';
import type { GainBasis, PromptBasis } from './model/basis.ts';
import type { LoadAwareSettings, ServerGroup } from './model/server-group.ts';
import { adaptiveFactor, deviations } from './policies/adaptive.ts';
import { linearFactor, meanScore } from './policies/linear.ts';
import { areMostlyAnswered, promptBasisOf, tokensPerSecondOf, type PromptPace } from './prompts.ts';
import type { Roster } from './roster.ts';
import { linearScores } from './scorers/linear-score.ts';
import { lackingScorers, type WeighedSignal, weighedSignals } from './scorers/weighed.ts';
import { limitNewcomers, slowStartLimit } from './slow-start.ts';
import { isMeasured } from './trust.ts';
import { type Zones, withinZones, zoneMeans } from './zones.ts';

/** What the load came to, per backend in roster order. */
export interface Weighing {
  /** w of the rule; 0: not in the assignment. */
  readonly weights: Float64Array;
  readonly gain: number;
  /** e of the rule; 0 where the policy does not use it. */
  readonly deviations: Float64Array;
  /** What the load makes of a backend's share, before slow start; 1 where it is not weighed. */
  readonly factors: Float64Array;
  /** What its prompts leave of its weight; undefined, or none at all: everything. */
  readonly prompts: readonly (PromptBasis | undefined)[];
  /** Linear scores, 0..1; NaN where no load was compared. */
  readonly scores: Float64Array;
  /** The learned ones that are remembered, whether the policy uses them or not. */
  readonly capacities: Capacities;
  /** undefined: no load was compared. */
  readonly loads: Loads | undefined;
  /** The signals that count; none where no load was compared. */
  readonly signals: readonly WeighedSignal[];
  /** How the gain came about; undefined: no load was compared. */
  readonly gainBasis: GainBasis | undefined;
  /** Mean weight per share that newcomers are measured by; undefined: there is no limit. */
  readonly newcomerMeasure: number | undefined;
  /** Most that a frozen backend gets; undefined: none is. */
  readonly trickle: number | undefined;
  /** All weights are the configured ones, whatever the load says: what is known of it is too old. */
  readonly alike: boolean;
  /** Scorers with weight whose metric is not to be had. */
  readonly lacking: readonly ScorerName[];
}

export interface WeighingInput {
  readonly group: ServerGroup;
  readonly settings: LoadAwareSettings;
  readonly nowMs: number;
  readonly delaySeconds: number;
  readonly lagSeconds: number;
  readonly staySeconds: number;
  readonly roster: Roster;
  readonly memories: readonly BackendMemory[];
  readonly freshness: Freshness;
  /** With residuals as learned until the previous evaluation. */
  readonly capacities: Capacities;
  /**
   * Whether the sample of a backend teaches anything: it is fresh, not frozen, the backend past slow start and not out, and
   * the loop closed.
   */
  readonly learns: (index: number) => boolean;
  /** For how much time this run teaches, s. */
  readonly stepSeconds: number;
  /** undefined: nobody prefers one. */
  readonly zones: Zones | undefined;
  /** How far its gauges are believed, 0..1, in roster order. */
  readonly trusts: Float64Array;
  readonly promptPace: PromptPace;
  /** Sidecars have equal weights, or would have them if the group were not only observed. */
  readonly wereEqual: boolean;
  /** A share was refused until now. */
  readonly refuses: boolean;
}

/** Weights that do not follow the load: `weights` as they are. */
export function unweighed(weights: Float64Array, capacities: Capacities): Weighing {
  const size = weights.length;
  return {
    weights,
    gain: 0,
    deviations: new Float64Array(size),
    factors: new Float64Array(size).fill(1),
    prompts: [],
    scores: new Float64Array(size).fill(Number.NaN),
    capacities,
    loads: undefined,
    signals: [],
    gainBasis: undefined,
    newcomerMeasure: undefined,
    trickle: undefined,
    alike: false,
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
      : weighByPolicy(input, loadsOf(roster, memories, freshness.uses, input.trusts), signals);
  const isFrozen = (index: number): boolean => at(freshness.uses, index) === 'frozen';
  const limitOf = (index: number) => slowStartLimit(at(memories, index).joinedAtMs, nowMs);
  const newcomerMeasure = limitNewcomers(weighing.weights, roster.shares, limitOf, isFrozen);
  const trickle = limitToTrickle(weighing.weights, isFrozen);
  const lacking = lackingScorers(settings.balance.scorers, metrics);
  return { ...weighing, signals, newcomerMeasure, trickle, lacking };
}

/** c of the rule for every backend that belongs into the assignment. */
export function configuredWeights({ shares }: Roster, { uses }: Freshness): Float64Array {
  return shares.map((share, index) => (at(uses, index) === 'removed' ? 0 : share));
}

function weighByPolicy(input: WeighingInput, loads: Loads, signals: readonly WeighedSignal[]): Weighing {
  const { group, settings, delaySeconds, lagSeconds, staySeconds, freshness } = input;
  const basis = gainBasis({
    meanInside: loads.means.inside,
    intervalSeconds: settings.collect.intervalSeconds,
    delaySeconds,
    lagSeconds,
    staySeconds,
    envoyLbPolicy: group.envoyLbPolicy,
  });
  const gain = Math.min(basis.limit, basis.feedback);
  const scores = linearScores(loads, freshness.uses, signals);
  const compared = { gain, gainBasis: basis, loads, scores };
  switch (settings.balance.policy) {
    case 'Adaptive':
      return { ...asAlike(input, basis, weighAdaptively(input, loads, signals, gain)), ...compared };
    case 'Linear':
      return { ...weighLinearly(input, scores, gain), ...compared };
  }
}

function asAlike(input: WeighingInput, basis: GainBasis, weighing: Weighing): Weighing {
  const { group, zones, roster } = input;
  const { capacities } = weighing;
  const { envoyLbPolicy } = group;
  const prefersZones = zones !== undefined;
  if (!areAlikeForAllThatIsKnown({ ...input, basis, envoyLbPolicy, prefersZones, capacities }))
    return weighing;
  return { ...weighing, weights: roster.shares.slice(), alike: true };
}

function weighAdaptively(
  input: WeighingInput,
  loads: Loads,
  signals: readonly WeighedSignal[],
  gain: number,
): Weighing {
  const { settings, roster, memories, freshness, learns, stepSeconds, trusts, zones } = input;
  const differences = deviations(loads, signals);
  const own = (index: number): boolean => isUsable(at(freshness.uses, index));
  const pupil = (index: number): boolean => own(index) && learns(index);
  const compared = amongThemselves(differences, roster.shares, pupil, own);
  const teaching =
    zones === undefined
      ? compared
      : withinZones(zones, compared, zoneMeans(zones, compared, roster.shares, pupil));
  const { intervalSeconds } = settings.collect;
  const { residuals, speeds } = input.capacities;
  const isCounted = (index: number): boolean => isMeasured(at(memories, index));
  const learned = learnResiduals(
    residuals,
    teaching,
    roster.shares,
    learns,
    { stepSeconds, intervalSeconds },
    trusts,
    isCounted,
  );
  const capacities = capacitiesOf(learned, speeds, roster.shares);
  const tell = areMostlyAnswered(input.promptPace);
  const prompts = memories.map((memory, index) =>
    tell && at(freshness.uses, index) === 'fresh'
      ? promptBasisOf(
          memory.prompts,
          tokensPerSecondOf(input.promptPace, at(roster.shares, index)),
          intervalSeconds,
          input.lagSeconds,
        )
      : undefined,
  );
  const factors = differences.map((deviation) => adaptiveFactor(deviation, gain));
  const weights = configuredWeights(roster, freshness).map(
    (share, index) =>
      share * at(capacities.products, index) * at(factors, index) * (prompts[index]?.free ?? 1),
  );
  return { ...unweighed(weights, capacities), deviations: differences, factors, prompts };
}

/**
 * What those that learn are compared with: themselves, where others are left out. One that is out and full makes all
 * others lighter than the mean, and would teach them for as long as it is that they cope with more.
 */
function amongThemselves(
  differences: Float64Array,
  shares: Float64Array,
  learns: (index: number) => boolean,
  counts: (index: number) => boolean,
): Float64Array {
  let sum = 0;
  let total = 0;
  let everybody = true;
  for (let index = 0; index < differences.length; index++) {
    if (!counts(index)) continue;
    if (!learns(index)) everybody = false;
    else {
      sum += at(shares, index) * teachable(at(differences, index));
      total += at(shares, index);
    }
  }
  if (everybody || total === 0) return differences;
  return differences.map((difference) => teachable(difference) - sum / total);
}

function weighLinearly(input: WeighingInput, scores: Float64Array, gain: number): Weighing {
  const { roster, freshness, capacities } = input;
  const mean = meanScore(scores, freshness.uses);
  const factors = scores.map((score) => (Number.isNaN(score) ? 1 : linearFactor(score, mean, gain)));
  const weights = configuredWeights(roster, freshness).map((share, index) => share * at(factors, index));
  return { ...unweighed(weights, capacities), factors };
}

import type { AdmissionControl, AdmissionDecision } from '../core/model/admission.ts';
import type { SaturationSettings } from '../core/model/balance-settings.ts';
import type { GainBasis, Intake, PromptBasis, SpeedBasis, WeightBasis } from '../core/model/basis.ts';
import type { Sample } from '../core/model/collection.ts';
import type { BackendDecision, GroupDecision, MarkCause } from '../core/model/decision.ts';
import type { DiscoveryStatus } from '../core/model/discovery.ts';
import type { GroupStatus } from '../core/model/group-status.ts';
import type { ZoneDecision } from '../core/model/zones.ts';
import { admissionFigures } from './admission-figures.ts';
import { discoveryState } from './discovery-state.ts';
import type {
  AdmissionExplanation,
  BackendExplanation,
  DecisionExplanation,
  GainExplanation,
  GroupExplanation,
  IntakeExplanation,
  MarkExplanation,
  PromptsExplanation,
  SampleExplanation,
  SaturationExplanation,
  SpeedExplanation,
  ZoneExplanation,
} from './explanation.ts';
import { relativeDiscovery } from './words/discovery-words.ts';

export interface ExplainInput {
  readonly status: GroupStatus;
  readonly nowMs: number;
  /** Open streams that endpoints may be asked for on. */
  readonly openStreams: number;
  /** Default: nothing is said of where the backends come from. */
  readonly discovery?: DiscoveryStatus | undefined;
  /** Which backends to tell of. */
  readonly wanted: (of: BackendDecision) => boolean;
}

/** What `published.decision` tells of: where sidecars have the configured weights, what they would be told. */
export function shownDecision({ newest, published }: GroupStatus): GroupDecision {
  return newest.observing ? newest : published.decision;
}

/** Puts where a group stands into the form that `/explain` has. */
export function explainGroup({
  status,
  nowMs,
  openStreams,
  discovery,
  wanted,
}: ExplainInput): GroupExplanation {
  const { published, newest } = status;
  const { decision, version, atMs, firstAcknowledgedAtMs } = published;
  return {
    serverGroup: decision.serverGroup,
    published: {
      version,
      ageSeconds: (nowMs - atMs) / 1000,
      reason: decision.publish ?? null,
      firstAcknowledgementSeconds:
        firstAcknowledgedAtMs === undefined ? null : (firstAcknowledgedAtMs - atMs) / 1000,
      decision: explainDecision(shownDecision(status), nowMs, wanted),
    },
    newest:
      newest === decision || newest.observing
        ? null
        : {
            movedShareRatio: movedShare(newest, decision),
            decision: explainDecision(newest, nowMs, wanted),
          },
    xdsStreams: { open: openStreams, ...status.streams },
    observing: newest.observing ? { movedShareRatio: movedFromConfigured(newest) } : null,
    discovery: relativeDiscovery(
      discoveryState(discovery, (ms) => ms),
      nowMs,
    ),
  };
}

/** How much of the traffic would go elsewhere: total variation of the shares among the healthy, undithered. */
function movedShare(newest: GroupDecision, published: GroupDecision): number {
  return distance(healthyShares(newest), healthyShares(published));
}

function movedFromConfigured(newest: GroupDecision): number {
  return distance(healthyShares(newest), overSum(newest.backends.map(({ backend }) => backend.weight)));
}

function distance(shares: readonly number[], before: readonly number[]): number {
  return shares.reduce((sum, share, index) => sum + Math.abs(share - (before[index] ?? 0)), 0) / 2;
}

function healthyShares({ backends }: GroupDecision): readonly number[] {
  return overSum(backends.map((of) => (of.health === 'HEALTHY' ? of.relativeWeight : 0)));
}

function overSum(weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => (sum === 0 ? 0 : weight / sum));
}

function explainDecision(
  decision: GroupDecision,
  nowMs: number,
  wanted: ExplainInput['wanted'],
): DecisionExplanation {
  const { mode, basis, warnings, atMs, observing } = decision;
  return {
    ageSeconds: (nowMs - atMs) / 1000,
    mode,
    observing,
    policy: basis.policy ?? null,
    envoyLbPolicy: basis.envoyLbPolicy,
    gain: basis.gain === undefined ? null : explainGain(decision.gain, basis.gain),
    saturation: basis.saturation === undefined ? null : explainSaturation(basis.saturation),
    admission: explainAdmission(decision.admission, decision.computed.dropShare),
    signals: basis.signals,
    mostQueuedInMeans: basis.mostQueued ?? null,
    speed: basis.speed === undefined ? null : explainSpeed(basis.speed),
    meanCapacity: basis.meanCapacity,
    meanScore: basis.meanScore ?? null,
    equalWeights: basis.alike,
    loadFactorBounds: basis.loadFactorBounds ?? null,
    meanComputedWeight: basis.meanWeight,
    weightScale: basis.scale,
    warnings,
    zones: (decision.zones ?? []).map(explainZone),
    backends: decision.backends.filter(wanted).map((of) => explainBackend(of, atMs)),
  };
}

function explainZone(of: ZoneDecision): ZoneExplanation {
  return {
    zone: of.zone,
    backends: of.backends,
    excess: of.excess ?? null,
    availableRatio: of.available,
    gain: of.gain,
    integralRatio: of.integral,
    overflowRatio: of.overflow,
    plain: of.plain,
    awayFactor: of.factor,
    homeShareRatio: of.homeShare,
  };
}

function explainGain(value: number, basis: GainBasis): GainExplanation {
  const {
    intervalSeconds,
    delaySeconds,
    lagSeconds,
    staySeconds,
    remaining,
    trust,
    feedback,
    meanInside,
    limit,
  } = basis;
  return {
    value,
    intervalSeconds,
    delaySeconds,
    lagSeconds,
    staySeconds,
    remainingRatio: remaining,
    trust,
    feedback,
    meanInsideRequests: meanInside,
    limit,
  };
}

function explainSpeed(basis: SpeedBasis): SpeedExplanation {
  const { backends, finished, runningSeconds, secondsPerRequest, typical, exponent, meanPower } = basis;
  return {
    backends,
    finishedRequests: finished,
    runningSeconds,
    secondsPerRequest,
    typicalRatio: typical,
    exponent,
    meanPower,
  };
}

function explainSaturation(settings: SaturationSettings): SaturationExplanation {
  const { totalQueuedRequests, kvCacheUtilization, runningRequests } = settings;
  return {
    queuedMarkRequests: totalQueuedRequests.mark,
    queuedClearRequests: totalQueuedRequests.clear,
    kvCacheMarkRatio: kvCacheUtilization.mark,
    runningMarkRequests: runningRequests?.mark ?? null,
    runningClearRequests: runningRequests?.clear ?? null,
  };
}

function explainAdmission(admission: AdmissionDecision, publishedShareRatio: number): AdmissionExplanation {
  const figures = admissionFigures(admission);
  const shedding = admission.kind === 'shedding' ? admission : undefined;
  const { basis } = admission.kind === 'engaged' ? admission : { basis: shedding?.basis };
  return {
    kind: admission.kind,
    publishedShareRatio,
    computedShareRatio: shedding?.share ?? 0,
    reason: admissionReason(admission),
    sparedUpToRequests: ('sparedUpTo' in admission ? admission.sparedUpTo : undefined) ?? null,
    control: basis?.kind === 'measured' ? explainControl(basis.control) : null,
    figures:
      figures === undefined
        ? null
        : {
            backends: figures.backends,
            markedBackends: figures.marked,
            medianQueuedRequests: figures.medianQueued,
            meanQueuedRequests: figures.meanQueued,
            finishedPerSecond: figures.finishedPerSecond,
            waitSeconds: figures.waitSeconds,
            medianWaitSeconds: figures.medianWaitSeconds,
            engagedAboveSeconds: figures.engagedAboveSeconds,
            targetSeconds: figures.targetSeconds,
          },
  };
}

function admissionReason(admission: AdmissionDecision): string | null {
  if (admission.kind === 'unavailable') return admission.reason;
  if (admission.kind !== 'shedding' && admission.kind !== 'engaged') return null;
  switch (admission.basis.kind) {
    case 'measured':
      return null;
    case 'standing':
      return 'no sample counts, so that it stands as it was';
    case 'unmeasured':
      return 'most backends are above their marks, and how fast they serve is not known yet';
  }
}

function explainControl(control: AdmissionControl): AdmissionExplanation['control'] {
  const { waitSeconds, elapsedSeconds, timeConstantSeconds, calmSeconds, kept, previous, integral } = control;
  return {
    waitSeconds,
    elapsedSeconds,
    timeConstantSeconds,
    calmSeconds,
    keptRatio: kept,
    previousRatio: previous,
    integralRatio: integral,
  };
}

/** @param atMs when it was decided */
export function explainBackend(of: BackendDecision, atMs: number): BackendExplanation {
  const { backend, basis } = of;
  return {
    backend: backend.id,
    health: of.health ?? null,
    weight: of.weight,
    shareRatio: of.share,
    configuredWeight: backend.weight,
    configuredShare: basis.configuredShare,
    sample: of.sample === undefined ? null : explainSample(of.sample, of.sampleAgeMs ?? 0),
    engine: of.engine ?? null,
    sampleUse: of.use,
    missedEvaluations: of.missed,
    failure: of.failure ?? null,
    signals: basis.signals,
    deviation: of.deviation,
    score: of.score ?? null,
    capacity: basis.capacity,
    residualCapacity: basis.residual,
    speed: basis.speed,
    pace:
      basis.pace === undefined
        ? null
        : { finishedRequests: basis.pace.finished, runningSeconds: basis.pace.runningSeconds },
    intake: basis.intake === undefined ? null : explainIntake(basis.intake),
    unboundedLoadFactor: basis.unboundedLoadFactor,
    loadFactor: basis.loadFactor,
    prompts: basis.prompts === undefined ? null : explainPrompts(basis.prompts),
    keptWeight: basis.kept ?? null,
    slowStart: basis.slowStart === undefined ? null : explainSlowStart(basis.slowStart),
    frozen: of.frozen,
    trickle:
      basis.trickle === undefined
        ? null
        : { steadySeconds: basis.trickle.steadyMs / 1000, mostWeight: basis.trickle.most },
    computedWeight: basis.weight,
    unditheredWeight: basis.unditheredWeight,
    saturated: of.saturated,
    mark: of.markCause === undefined ? null : explainMark(of.markCause, atMs),
    reasons: of.reasons,
  };
}

function explainPrompts({ tokens, tokensPerSecond, seconds, free }: PromptBasis): PromptsExplanation {
  return { tokens, tokensPerSecond, seconds, freeRatio: free };
}

function explainIntake(intake: Intake): IntakeExplanation {
  const { trust, arrived, expected, finished, runningSeconds, secondsPerRequest } = intake;
  const orNull = (value: number): number | null => (Number.isFinite(value) ? value : null);
  return {
    trust,
    arrivedRequests: arrived,
    expectedRequests: orNull(expected),
    finishedRequests: finished,
    runningSeconds,
    secondsPerRequest: orNull(secondsPerRequest),
  };
}

function explainSample(sample: Sample, ageMs: number): SampleExplanation {
  return {
    ageSeconds: ageMs / 1000,
    queuedRequests: sample.queued ?? null,
    runningRequests: sample.running ?? null,
    kvCacheRatio: sample.kvUtilization ?? null,
  };
}

function explainSlowStart({ ageMs, limit, measure, most }: NonNullable<WeightBasis['slowStart']>) {
  return {
    ageSeconds: ageMs / 1000,
    limitRatio: limit,
    measureWeight: measure ?? null,
    mostWeight: most ?? null,
  };
}

function explainMark({ metric, value, mark, queued, atMs }: MarkCause, nowMs: number): MarkExplanation {
  return { metric, value, mark, queuedRequests: queued, ageSeconds: (nowMs - atMs) / 1000 };
}

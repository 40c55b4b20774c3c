import type {
  AdmissionExplanation,
  BackendExplanation,
  DecisionExplanation,
  DeparturesExplanation,
  DiscoveryExplanation,
  FailureExplanation,
  GainExplanation,
  GroupExplanation,
  IntakeExplanation,
  MarkExplanation,
  NewestExplanation,
  ObservingExplanation,
  PromptsExplanation,
  PublishedExplanation,
  SampleExplanation,
  SaturationExplanation,
  SignalExplanation,
  SignalValueExplanation,
  SpeedExplanation,
  XdsStreamsExplanation,
  ZoneExplanation,
} from '../admin/explanation.ts';
import { ENGINES } from '../collect/engines/catalogue.ts';
import { aFlag, aNumber, aText, type Fields, listOf, objectOf, oneOf, orNull, type Shape } from './shape.ts';

/** What one finds at an address need not be a Plimsoll, nor one of this version. */

const scorer = oneOf(['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests']);

const gain = objectOf({
  value: aNumber,
  intervalSeconds: aNumber,
  delaySeconds: aNumber,
  lagSeconds: aNumber,
  staySeconds: aNumber,
  remainingRatio: aNumber,
  trust: aNumber,
  feedback: aNumber,
  meanInsideRequests: aNumber,
  limit: aNumber,
} satisfies Fields<GainExplanation>);

const speed = objectOf({
  backends: aNumber,
  finishedRequests: aNumber,
  runningSeconds: aNumber,
  secondsPerRequest: aNumber,
  typicalRatio: aNumber,
  exponent: aNumber,
  meanPower: aNumber,
} satisfies Fields<SpeedExplanation>);

const saturation = objectOf({
  queuedMarkRequests: aNumber,
  queuedClearRequests: aNumber,
  kvCacheMarkRatio: aNumber,
  runningMarkRequests: orNull(aNumber),
  runningClearRequests: orNull(aNumber),
} satisfies Fields<SaturationExplanation>);

const admission = objectOf({
  kind: oneOf(['disabled', 'unavailable', 'off', 'engaged', 'shedding']),
  publishedShareRatio: aNumber,
  computedShareRatio: aNumber,
  reason: orNull(aText),
  sparedUpToRequests: orNull(aNumber),
  control: orNull(
    objectOf({
      waitSeconds: aNumber,
      elapsedSeconds: aNumber,
      timeConstantSeconds: aNumber,
      calmSeconds: aNumber,
      keptRatio: aNumber,
      previousRatio: aNumber,
      integralRatio: aNumber,
    } satisfies Fields<NonNullable<AdmissionExplanation['control']>>),
  ),
  figures: orNull(
    objectOf({
      backends: aNumber,
      markedBackends: aNumber,
      medianQueuedRequests: aNumber,
      meanQueuedRequests: aNumber,
      finishedPerSecond: aNumber,
      waitSeconds: aNumber,
      medianWaitSeconds: aNumber,
      engagedAboveSeconds: aNumber,
      targetSeconds: aNumber,
    } satisfies Fields<NonNullable<AdmissionExplanation['figures']>>),
  ),
} satisfies Fields<AdmissionExplanation>);

const signal = objectOf({
  name: scorer,
  part: aNumber,
  mean: aNumber,
  scale: aNumber,
  least: aNumber,
  spread: aNumber,
} satisfies Fields<SignalExplanation>);

const sample = objectOf({
  ageSeconds: aNumber,
  queuedRequests: orNull(aNumber),
  runningRequests: orNull(aNumber),
  kvCacheRatio: orNull(aNumber),
} satisfies Fields<SampleExplanation>);

const engine = oneOf(ENGINES.map(({ name }) => name));

const backend = objectOf({
  backend: aText,
  health: orNull(oneOf(['HEALTHY', 'UNHEALTHY', 'DRAINING'])),
  weight: aNumber,
  shareRatio: aNumber,
  configuredWeight: aNumber,
  configuredShare: aNumber,
  sample: orNull(sample),
  engine: orNull(engine),
  sampleUse: oneOf([
    'fresh',
    'last',
    'worst',
    'mean',
    'frozen',
    'aside',
    'asleep',
    'draining',
    'removed',
    'none',
  ]),
  missedEvaluations: aNumber,
  failure: orNull(
    objectOf({ kind: aText, message: aText } satisfies Fields<NonNullable<BackendExplanation['failure']>>),
  ),
  signals: listOf(
    objectOf({
      name: scorer,
      value: aNumber,
      deviation: aNumber,
      score: aNumber,
    } satisfies Fields<SignalValueExplanation>),
  ),
  deviation: aNumber,
  score: orNull(aNumber),
  capacity: aNumber,
  residualCapacity: aNumber,
  speed: aNumber,
  pace: orNull(
    objectOf({ finishedRequests: aNumber, runningSeconds: aNumber } satisfies Fields<
      NonNullable<BackendExplanation['pace']>
    >),
  ),
  intake: orNull(
    objectOf({
      trust: aNumber,
      arrivedRequests: aNumber,
      expectedRequests: orNull(aNumber),
      finishedRequests: aNumber,
      runningSeconds: aNumber,
      secondsPerRequest: orNull(aNumber),
    } satisfies Fields<IntakeExplanation>),
  ),
  unboundedLoadFactor: aNumber,
  loadFactor: aNumber,
  prompts: orNull(
    objectOf({
      tokens: aNumber,
      tokensPerSecond: aNumber,
      seconds: aNumber,
      freeRatio: aNumber,
    } satisfies Fields<PromptsExplanation>),
  ),
  keptWeight: orNull(aNumber),
  slowStart: orNull(
    objectOf({
      ageSeconds: aNumber,
      limitRatio: aNumber,
      measureWeight: orNull(aNumber),
      mostWeight: orNull(aNumber),
    } satisfies Fields<NonNullable<BackendExplanation['slowStart']>>),
  ),
  frozen: aFlag,
  trickle: orNull(
    objectOf({ steadySeconds: aNumber, mostWeight: aNumber } satisfies Fields<
      NonNullable<BackendExplanation['trickle']>
    >),
  ),
  computedWeight: aNumber,
  unditheredWeight: aNumber,
  saturated: aFlag,
  mark: orNull(
    objectOf({
      metric: scorer,
      value: aNumber,
      mark: aNumber,
      queuedRequests: aNumber,
      ageSeconds: aNumber,
    } satisfies Fields<MarkExplanation>),
  ),
  reasons: listOf(aText),
} satisfies Fields<BackendExplanation>);

const zone = objectOf({
  zone: aText,
  backends: aNumber,
  excess: orNull(aNumber),
  availableRatio: aNumber,
  gain: aNumber,
  integralRatio: aNumber,
  overflowRatio: aNumber,
  plain: aFlag,
  awayFactor: aNumber,
  homeShareRatio: aNumber,
} satisfies Fields<ZoneExplanation>);

const decision = objectOf({
  ageSeconds: aNumber,
  mode: oneOf(['balanced', 'kept', 'configured']),
  observing: aFlag,
  policy: orNull(oneOf(['Adaptive', 'Linear'])),
  envoyLbPolicy: oneOf(['LeastRequest', 'RoundRobin']),
  gain: orNull(gain),
  saturation: orNull(saturation),
  admission,
  signals: listOf(signal),
  speed: orNull(speed),
  meanCapacity: aNumber,
  mostQueuedInMeans: orNull(aNumber),
  meanScore: orNull(aNumber),
  equalWeights: aFlag,
  loadFactorBounds: orNull(
    objectOf({ least: aNumber, most: aNumber } satisfies Fields<{ least: number; most: number }>),
  ),
  meanComputedWeight: aNumber,
  weightScale: aNumber,
  warnings: listOf(aText),
  zones: listOf(zone),
  backends: listOf(backend),
} satisfies Fields<DecisionExplanation>);

const departures = objectOf({
  total: aNumber,
  shown: listOf(
    objectOf({ backend: aText, inSeconds: orNull(aNumber) } satisfies Fields<
      DeparturesExplanation['shown'][number]
    >),
  ),
} satisfies Fields<DeparturesExplanation>);

const discovery = objectOf({
  source: orNull(aText),
  listAgeSeconds: orNull(aNumber),
  listedBackends: aNumber,
  failure: orNull(objectOf({ reason: aText, forSeconds: aNumber } satisfies Fields<FailureExplanation>)),
  waiting: orNull(aText),
  leftOut: listOf(aText),
  moreLeftOut: aNumber,
  doubted: departures,
  draining: departures,
} satisfies Fields<DiscoveryExplanation>);

const explanation = objectOf({
  serverGroup: aText,
  published: objectOf({
    version: aText,
    ageSeconds: aNumber,
    reason: orNull(
      oneOf(['first', 'membership', 'health', 'configuration', 'admission', 'shares'] satisfies NonNullable<
        PublishedExplanation['reason']
      >[]),
    ),
    firstAcknowledgementSeconds: orNull(aNumber),
    decision,
  } satisfies Fields<PublishedExplanation>),
  newest: orNull(objectOf({ movedShareRatio: aNumber, decision } satisfies Fields<NewestExplanation>)),
  xdsStreams: objectOf({
    open: aNumber,
    following: aNumber,
    current: aNumber,
  } satisfies Fields<XdsStreamsExplanation>),
  observing: orNull(objectOf({ movedShareRatio: aNumber } satisfies Fields<ObservingExplanation>)),
  discovery: orNull(discovery),
} satisfies Fields<GroupExplanation>);

/** @returns undefined: it is a {@link GroupExplanation} */
export function wrongInExplanation(value: unknown): string | undefined {
  return explanation(value, '');
}

/** The list that an answer of 404 has; empty when it has none. */
export function namesIn(value: unknown, list: 'serverGroups' | 'backends'): readonly string[] {
  const shape: Shape = objectOf({ [list]: listOf(aText) });
  return shape(value, '') === undefined ? (value as Record<typeof list, readonly string[]>)[list] : [];
}

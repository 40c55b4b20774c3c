import type {
  BackendExplanation,
  DecisionExplanation,
  MarkExplanation,
  SampleExplanation,
  SpeedExplanation,
} from '../explanation.ts';
import { boundWords, METRIC_WORDS, SIGNAL_WORDS } from './explain-words.ts';
import { duration, figure, operand, percent, plural } from './figures.ts';

const DRAINING =
  'It drains: it ends what it has begun, and gets nothing new. Its weight is the one that it had.';

const DOUBTED_SPEED =
  'Speed: 1 while its metrics are doubted, by which it is faster than all together; it is not compared.';

/** Most that a published weight differs from the computed one, as a part of it. */
const DITHER = 0.001;

/** Why one backend has its weight, with the arithmetic: the first line names it, the others are sentences. */
export function backendLines(
  of: BackendExplanation,
  decision: DecisionExplanation,
  newest: BackendExplanation | undefined,
): readonly string[] {
  if (of.sampleUse === 'draining') return [heading(of), DRAINING];
  const sentences = [
    sampleSentence(of, newest),
    trustSentence(of),
    ...loadSentences(of, decision),
    promptSentence(of, decision),
    speedSentence(of, decision.speed),
    capacitySentence(of, decision),
    slowStartSentence(of),
    trickleSentence(of),
    weightSentence(of, decision),
    markSentence(of, decision),
    newestSentence(of, newest),
  ];
  return [heading(of), ...sentences.filter((sentence) => sentence !== undefined)];
}

function heading({ backend, health, weight, shareRatio }: BackendExplanation): string {
  if (health === null) return `${backend}: not in the assignment`;
  return `${backend}: ${health}, weight ${figure(weight)}, ${percent(shareRatio)} of new requests`;
}

function sampleSentence(of: BackendExplanation, newest: BackendExplanation | undefined): string | undefined {
  const { sample, sampleUse } = of;
  if (sampleUse === 'aside') return 'Configured weight 0: polled and shown, takes no traffic.';
  if (sampleUse === 'draining') return DRAINING;
  if (sampleUse === 'asleep') return 'Its engine sleeps: polled and shown, takes no traffic until it wakes.';
  const values = sample === null ? 'Never sampled' : sampleWords(sample, of.engine);
  const perShare = of.configuredShare === 1 || of.signals.length === 0 ? '' : `; ${perUnit(of)}`;
  switch (sampleUse) {
    case 'fresh':
      return `${values}${perShare}.`;
    case 'last':
      return `${values}: its last sample stands in, as ${silence(of, newest)}${perShare}.`;
    case 'worst':
      return `${values}, but ${silence(of, newest)}: the worst of the others counts, ${counted(of)}.`;
    case 'mean':
      return `${values}, and ${silence(of, newest)}: the mean counts, ${counted(of)}.`;
    case 'frozen':
      return `${values}. Its gauges stand still: they say nothing.`;
    case 'removed':
      return `${values}. Out of the assignment until it answers, as ${silence(of, newest)} (OnCollectFailure: Remove).`;
    case 'none':
      return of.missedEvaluations === 0 ? undefined : `${values}, and ${silence(of, newest)}.`;
  }
}

function sampleWords(
  { ageSeconds, queuedRequests, runningRequests, kvCacheRatio }: SampleExplanation,
  engine: BackendExplanation['engine'],
): string {
  const parts = [
    `${known(queuedRequests)} queued`,
    `${known(runningRequests)} running`,
    `${known(kvCacheRatio)} of the KV cache`,
  ];
  const whose = engine === null ? '' : ` of ${engine}`;
  return `Sample${whose}, ${duration(ageSeconds)} old: ${parts.join(', ')}`;
}

function known(value: number | null): string {
  return value === null ? 'unknown' : figure(value);
}

/** @param newest what is told of it now, where the words are of what was published */
function silence(
  { missedEvaluations, failure }: BackendExplanation,
  newest: BackendExplanation | undefined,
): string {
  if (missedEvaluations === 0) return 'it has not answered yet to a collection that came early';
  const cause = failure === null ? '' : ` (${failure.message})`;
  const now = newest?.missedEvaluations ?? 0;
  const count = plural(missedEvaluations, 'collection');
  if (now <= missedEvaluations) return `it gave no metrics in ${count}${cause}`;
  return `it gave no metrics in ${count} before it was published${cause}, ${now} by now`;
}

function perUnit(of: BackendExplanation): string {
  return `over its configured share of ${figure(of.configuredShare)} that is ${counted(of)}`;
}

function counted({ signals }: BackendExplanation): string {
  return signals.map(({ name, value }) => `${SIGNAL_WORDS[name]} ${figure(value)}`).join(', ');
}

function loadSentences(of: BackendExplanation, decision: DecisionExplanation): readonly string[] {
  if (of.signals.length === 0 || decision.gain === null) return [];
  return [
    decision.policy === 'Linear' ? scoreSentence(of, decision) : deviationSentence(of, decision),
    factorSentence(of, decision, decision.gain.value),
  ];
}

function deviationSentence(
  { signals, deviation }: BackendExplanation,
  decision: DecisionExplanation,
): string {
  const terms = decision.signals.map(({ name, part, mean, scale }, index) => {
    const value = signals[index]?.value ?? 0;
    return `${SIGNAL_WORDS[name]} ${figure(part)} × (${figure(mean)} - ${figure(value)}) / ${figure(scale)}`;
  });
  const word = deviation > 0 ? 'Lighter than' : deviation < 0 ? 'Heavier than' : 'Like';
  return `${word} the mean: ${terms.join(' + ')} = ${figure(deviation)}.`;
}

function scoreSentence({ signals, score }: BackendExplanation, decision: DecisionExplanation): string {
  const terms = decision.signals.map(
    ({ name, part }, index) =>
      `${SIGNAL_WORDS[name]} ${figure(part)} × ${figure(signals[index]?.score ?? 0)}`,
  );
  return `Score: ${terms.join(' + ')} = ${figure(score ?? 0)}.`;
}

function factorSentence(of: BackendExplanation, decision: DecisionExplanation, gain: number): string {
  const { unboundedLoadFactor, loadFactor, deviation, score } = of;
  const formula =
    decision.policy === 'Linear'
      ? `1 + 2 × ${figure(gain)} × (${figure(score ?? 0)} - ${figure(decision.meanScore ?? 0)}) / 100`
      : `1 + ${figure(gain)} × ${operand(deviation)}`;
  return `For load: ${formula} = ${figure(unboundedLoadFactor)}${boundWords(unboundedLoadFactor, loadFactor)}.`;
}

function promptSentence({ prompts }: BackendExplanation, { gain }: DecisionExplanation): string | undefined {
  if (prompts === null || gain === null) return undefined;
  const { tokens, tokensPerSecond, seconds, freeRatio } = prompts;
  const unbounded = 1 - seconds / gain.intervalSeconds;
  const time = `${figure(tokens)} tokens left of prompts without a first token / ${figure(tokensPerSecond)} a second = ${figure(seconds)} s`;
  return `Prompts: ${time}; 1 - ${figure(seconds)} / ${figure(gain.intervalSeconds)} = ${figure(unbounded)}${boundWords(unbounded, freeRatio)}.`;
}

function speedSentence(
  { pace, speed, health, intake }: BackendExplanation,
  group: SpeedExplanation | null,
): string | undefined {
  if (health === null || group === null) return undefined;
  // its engine has what is compared
  if (pace === null && intake !== null) return DOUBTED_SPEED;
  if (pace === null || group.exponent === 0) return undefined;
  const { secondsPerRequest, typicalRatio, exponent, meanPower } = group;
  const { finishedRequests, runningSeconds } = pace;
  const ratio = (finishedRequests + 20) / (runningSeconds / secondsPerRequest + 20);
  const unbounded = (ratio / typicalRatio) ** exponent / meanPower;
  const formula = `((${figure(finishedRequests)} + 20) / (${figure(runningSeconds)} / ${figure(secondsPerRequest)} + 20) / ${figure(typicalRatio)}) ^ ${figure(exponent)} / ${figure(meanPower)}`;
  const finished = `${figure(finishedRequests)} finished in ${figure(runningSeconds)} s of running`;
  return `Speed: ${finished}; ${formula} = ${figure(unbounded)}${boundWords(unbounded, speed)}.`;
}

function capacitySentence(
  { capacity, residualCapacity, speed, health }: BackendExplanation,
  { meanCapacity, speed: group, observing }: DecisionExplanation,
): string | undefined {
  if (health === null) return undefined;
  if (group === null || group.exponent === 0) {
    return observing && capacity !== 1
      ? `Learned capacity: ${figure(capacity)}, it stands still while observed.`
      : undefined;
  }
  const still = observing ? ', which stands still while observed,' : '';
  const unbounded = (residualCapacity * speed) / meanCapacity;
  return `Learned capacity: ${figure(residualCapacity)} residual${still} × ${figure(speed)} speed / ${figure(meanCapacity)}, the mean, = ${figure(unbounded)}${boundWords(unbounded, capacity)}.`;
}

/** Told where its gauges are not believed to the full. */
function trustSentence({ intake, sampleUse }: BackendExplanation): string | undefined {
  if (intake === null || intake.trust === 1 || sampleUse !== 'fresh') return undefined;
  const { trust, arrivedRequests, expectedRequests, finishedRequests, runningSeconds, secondsPerRequest } =
    intake;
  const came =
    expectedRequests === null
      ? 'what its share brings is not known'
      : `by its metrics ${figure(arrivedRequests)} requests came, its share brings ${figure(expectedRequests)}`;
  const ran = `it ran ${figure(finishedRequests)} for ${figure(runningSeconds)} s, each should take ${figure(secondsPerRequest ?? 0)} s`;
  return `Trust in its gauges: ${figure(trust)}; ${came}; ${ran}. What they show below the mean counts ${figure(trust)} times.`;
}

function slowStartSentence({ slowStart, configuredShare }: BackendExplanation): string | undefined {
  if (slowStart === null) return undefined;
  const { ageSeconds, limitRatio, measureWeight, mostWeight } = slowStart;
  const joined = `Slow start, it joined ${duration(ageSeconds)} earlier`;
  if (measureWeight === null || mostWeight === null)
    return `${joined}: no limit, as there is no load to measure by.`;
  return `${joined}: at most ${figure(configuredShare)} configured × ${figure(measureWeight)}, the others' mean, × ${figure(limitRatio)} = ${figure(mostWeight)}.`;
}

function trickleSentence({ trickle }: BackendExplanation): string | undefined {
  if (trickle === null) return undefined;
  return `Still for ${duration(trickle.steadySeconds)}: at most ${figure(trickle.mostWeight)}, 0.02 of the mean.`;
}

function weightSentence(of: BackendExplanation, decision: DecisionExplanation): string | undefined {
  if (of.health === null) return undefined;
  const { meanComputedWeight: mean, weightScale } = decision;
  const integer = figure(Math.round(of.unditheredWeight));
  return `Weight: ${productWords(of, decision)}; over the mean of all, ${figure(mean)}, × ${figure(weightScale)} = ${integer}${decision.observing && !isDithered(of, decision) ? standingWords(of) : ditherWords(of)}.`;
}

function productWords(of: BackendExplanation, { equalWeights }: DecisionExplanation): string {
  const { configuredShare, configuredWeight, capacity, loadFactor, keptWeight, computedWeight } = of;
  const { signals, prompts } = of;
  if (keptWeight !== null) return `${figure(keptWeight)}, as published before`;
  if (equalWeights) return `${figure(computedWeight)}, as all of them`;
  const factors = [
    `${figure(configuredShare)} configured${configuredShare === 1 ? '' : ` (Weight ${configuredWeight})`}`,
    ...(capacity === 1 ? [] : [`${figure(capacity)} learned capacity`]),
    ...(signals.length === 0 ? [] : [`${figure(loadFactor)} for load`]),
    ...(prompts === null ? [] : [`${figure(prompts.freeRatio)} beside its prompts`]),
  ];
  const product = configuredShare * capacity * loadFactor * (prompts?.freeRatio ?? 1);
  const limited = computedWeight < product * (1 - 1e-9) ? `, limited to ${figure(computedWeight)}` : '';
  return `${factors.join(' × ')}${factors.length === 1 ? '' : ` = ${figure(product)}`}${limited}`;
}

/** Whether the weight is of this evaluation, and not of one before whose shares were much the same. */
function isDithered(
  { weight, unditheredWeight, computedWeight }: BackendExplanation,
  { meanComputedWeight }: DecisionExplanation,
): boolean {
  // the weight of a lone backend is no ratio: a refused share shifts it by more
  if (computedWeight === meanComputedWeight) return true;
  return Math.abs(weight - unditheredWeight) <= DITHER * unditheredWeight + 1;
}

function standingWords({ weight }: BackendExplanation): string {
  return ` now; ${figure(weight)} would stand from an earlier evaluation, as the shares have moved too little since`;
}

/** The small shift that keeps Envoy's schedule from leaving some out. */
function ditherWords({ weight, unditheredWeight }: BackendExplanation): string {
  const shift = weight / unditheredWeight - 1;
  if (weight === Math.round(unditheredWeight)) return '';
  return `, dithered by ${shift < 0 ? '-' : '+'}${percent(Math.abs(shift))}: ${figure(weight)}`;
}

function markSentence(of: BackendExplanation, decision: DecisionExplanation): string | undefined {
  const { mark, saturated, health } = of;
  if (mark === null) return saturated ? 'Saturated: kept from new requests.' : undefined;
  const set = `${causeWords(mark)}, ${duration(mark.ageSeconds)} earlier`;
  if (saturated) return `Saturated, no new requests: ${set}; ${clearWords(decision)}.`;
  if (health === null) return `Marked as saturated: ${set}.`;
  return `Marked as saturated (${set}), but not kept from requests: ${whyNotKept(of, decision)}.`;
}

function whyNotKept(
  { frozen, sample, sampleUse }: BackendExplanation,
  decision: DecisionExplanation,
): string {
  const spared = decision.admission.sparedUpToRequests;
  if (frozen) return 'its gauges stand still';
  if (sampleUse === 'none') {
    return decision.mode === 'kept'
      ? 'nobody gives metrics, so that what was published before stands'
      : 'nobody gives metrics, so that configured weights hold';
  }
  if (spared !== null && (sample?.queuedRequests ?? Number.POSITIVE_INFINITY) <= spared) {
    const instead =
      decision.admission.kind === 'off'
        ? 'the overload has just ended'
        : 'in an overload a share of all requests is refused instead';
    return `${instead}, and no more than ${figure(spared)} (three times the median, at least 20) are queued`;
  }
  return 'every backend that gives metrics is, and this one gives none';
}

function causeWords({ metric, value, mark, queuedRequests }: MarkExplanation): string {
  const over = `${figure(value)} ${METRIC_WORDS[metric]}`;
  return metric === 'KVCacheUtilization'
    ? `${over}, the mark is ${figure(mark)}, with ${figure(queuedRequests)} queued`
    : `${over}, above the mark of ${figure(mark)}`;
}

function clearWords({ saturation, admission }: DecisionExplanation): string {
  if (saturation === null) return 'the mark goes with the next sample';
  const { queuedClearRequests, runningClearRequests } = saturation;
  const spared = admission.sparedUpToRequests ?? 0;
  const running = runningClearRequests === null ? '' : ` and ${figure(runningClearRequests)} running`;
  return spared > queuedClearRequests
    ? `in this overload until at most ${figure(spared)} (three times the median, at least 20) are queued${running}`
    : `until at most ${figure(queuedClearRequests)} are queued${running}`;
}

function newestSentence(of: BackendExplanation, newest: BackendExplanation | undefined): string | undefined {
  if (newest === undefined || of.health === null) return undefined;
  const [before, after] = [of, newest].map(({ unditheredWeight }) => figure(Math.round(unditheredWeight)));
  if (after === before) return undefined;
  const from = newest.sample === null ? '' : ` (${sampleWords(newest.sample, newest.engine)})`;
  return `Newest evaluation: ${after} instead of ${before}${from}.`;
}

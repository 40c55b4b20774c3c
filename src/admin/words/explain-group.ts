import type {
  AdmissionExplanation,
  DecisionExplanation,
  GainExplanation,
  GroupExplanation,
  SaturationExplanation,
  SignalExplanation,
  SpeedExplanation,
} from '../explanation.ts';
import type { ScorerName } from '../../core/model/balance-settings.ts';
import { zoneLines } from './explain-zones.ts';
import { boundWords, MODE_WORDS, REASON_WORDS, SIGNAL_WORDS } from './explain-words.ts';
import { discoveryWords } from './discovery-words.ts';
import { duration, figure, operand, percent, plural } from './figures.ts';

/** Units that a difference is at least measured in, so that a small one is no reason to act. */
const LEAST_UNITS: Readonly<Record<ScorerName, number>> = {
  TotalQueuedRequests: 1,
  KVCacheUtilization: 0.1,
  RunningRequests: 8,
};

/** What is to be said of the group before its backends. An empty line stands for itself. */
export function groupLines(explanation: GroupExplanation): readonly string[] {
  const { published, newest } = explanation;
  const { decision } = published;
  const now = newest?.decision ?? decision;
  return [
    ...headLines(explanation, now),
    ...publishedLines(explanation),
    ...discoveryWords(explanation.discovery).map(
      (words) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`,
    ),
    ...now.warnings.map((warning) => `Warning: ${warning}.`),
    ...section(admissionLines(decision.admission, explanation.observing !== null)),
    ...section(zoneLines(decision)),
    ...section(gainLines(decision.gain, decision.equalWeights)),
    ...section(signalLines(decision)),
    ...section(speedLines(decision.speed)),
    ...section(saturationLines(decision.saturation)),
  ];
}

function section(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

function modeWords({ mode, policy, envoyLbPolicy }: DecisionExplanation): string {
  if (policy === null) return `${MODE_WORDS.configured}, as the group has no load-aware extension`;
  return `${MODE_WORDS[mode]} (Policy ${policy}, EnvoyLbPolicy ${envoyLbPolicy})`;
}

function headLines(
  { serverGroup, observing }: GroupExplanation,
  now: DecisionExplanation,
): readonly string[] {
  if (observing === null) return [`${serverGroup}: ${modeWords(now)}.`];
  return [
    `${serverGroup}: only observed. Sidecars have the configured weights, all healthy, and refuse nothing.`,
    `With Mode: Active: ${modeWords(now)}, and ${percent(observing.movedShareRatio)} of the requests would go elsewhere.`,
    'Since the load does not answer to these weights, learned residuals stand still meanwhile, and of a refused share only the first answer to the queues is told.',
  ];
}

function publishedLines({ published, newest, xdsStreams, observing }: GroupExplanation): readonly string[] {
  const { version, ageSeconds, reason, firstAcknowledgementSeconds: first } = published;
  const because = reason === null ? '' : `, because ${becauseWords(reason, published.decision)}`;
  const taken =
    first === null
      ? 'No sidecar has acknowledged it'
      : `The first sidecar acknowledged it ${duration(first)} after it went out`;
  const { open, following, current } = xdsStreams;
  return [
    `Published ${duration(ageSeconds)} ago${because}; version ${version}.`,
    `${taken}; ${current} of ${plural(following, 'stream')} that ${following === 1 ? 'follows' : 'follow'} this group ${current === 1 ? 'has' : 'have'} it (xDS streams open: ${open}).`,
    observing !== null
      ? `Below is what would be published as of the newest evaluation, ${duration(published.decision.ageSeconds)} ago.`
      : newest === null
        ? 'It is the newest evaluation.'
        : `The newest evaluation, ${duration(newest.decision.ageSeconds)} ago, would move ${percent(newest.movedShareRatio)} of the requests, too little to publish. Below is what is published.`,
  ];
}

/** Weights that come back to the configured ones, as nobody gives metrics, have not moved by the load. */
function becauseWords(reason: keyof typeof REASON_WORDS, { mode, warnings, observing }: DecisionExplanation) {
  const isFallback = reason === 'shares' && mode === 'configured' && !observing;
  if (!isFallback) return REASON_WORDS[reason];
  return warnings.some((text) => text.startsWith('no backend gives metrics'))
    ? 'no backend has given metrics for too long'
    : 'there was no load to go by any more';
}

function admissionLines(admission: AdmissionExplanation, observing: boolean): readonly string[] {
  const { kind, publishedShareRatio: share, computedShareRatio: computed, figures, reason } = admission;
  const { sparedUpToRequests: spared, control } = admission;
  const wait =
    figures === null
      ? ''
      : `A new request waits ${figure(figures.waitSeconds)} s for its turn: ${figure(figures.meanQueuedRequests)} queued on average / ${figure(figures.finishedPerSecond)} finished per second.`;
  switch (kind) {
    case 'disabled':
      return [];
    case 'unavailable':
      return [`Admission: nothing is refused, only the marks protect the backends: ${reason ?? 'unknown'}.`];
    case 'off':
      if (figures === null) return ['Admission: nothing is refused.'];
      return [
        `Admission: nothing is refused. ${wait}`,
        `  Refusing begins when that and twice the median queue / the same, now ${figure(figures.medianWaitSeconds)} s, are both above ${figure(figures.engagedAboveSeconds)} s, or more than half of the backends above their marks, now ${figures.markedBackends} of ${figures.backends}.`,
      ];
    case 'engaged': {
      const now = `Admission: nothing is refused now, but the overload does not count as over${reason === null ? '' : `: ${reason}`}.`;
      if (control === null) return [now];
      return [
        `${now} ${wait}`.trimEnd(),
        ...controlLines(admission),
        `  Refusing goes on when that is 0.02 or more, at whatever wait. The overload is over when what has grown is below 0.02 too and no more than half of the backends are above their marks${figures === null ? '' : `, now ${figures.markedBackends} of ${figures.backends}`}.`,
        sparedLine(spared),
      ];
    }
    case 'shedding':
      return [
        `Admission: sidecars ${observing ? 'would refuse' : 'refuse'} ${percent(share)} of the requests (computed: ${percent(computed)}${reason === null ? '' : `: ${reason}`}). ${wait}`.trimEnd(),
        ...controlLines(admission),
        sparedLine(spared),
      ];
  }
}

function sparedLine(spared: number | null): string {
  return spared === null
    ? '  It has been the most for long enough: all marks count.'
    : `  A mark keeps a backend out only where more than ${figure(spared)} (three times the median, at least 20) are queued, or by its running requests.`;
}

function controlLines({
  kind,
  control,
  figures,
  computedShareRatio,
}: AdmissionExplanation): readonly string[] {
  if (control === null || figures === null) return [];
  const { waitSeconds: wait, elapsedSeconds, timeConstantSeconds, previousRatio, integralRatio } = control;
  const { targetSeconds: target, waitSeconds: mean } = figures;
  const tau = figure(timeConstantSeconds);
  const excess = `(${figure(wait)} / ${figure(target)} - 1)`;
  const lone = `, and half of the backends have had next to no queue for long: ${figure(wait)} s counts`;
  const growth = ((0.45 * elapsedSeconds) / timeConstantSeconds ** 2) * (wait / target - 1);
  const grown = Math.min(growth, 0.085 * elapsedSeconds);
  const sum = previousRatio * control.keptRatio + grown;
  const share = integralRatio + (0.6 / timeConstantSeconds) * (wait / target - 1);
  const outcome =
    kind === 'engaged' ? ', less than 0.02 and so nothing' : boundWords(share, computedShareRatio);
  return [
    `  Aimed at is a wait of ${figure(target)} s${wait < mean ? lone : ''}.`,
    `  It grows by 0.45 × ${figure(elapsedSeconds)} / ${tau}² × ${excess} = ${figure(growth)}${boundWords(growth, grown)}.`,
    `  Grown by now: ${figure(previousRatio)} before${keptWords(control)} + ${operand(grown)} = ${figure(sum)}${boundWords(sum, integralRatio)}.`,
    `  Refused: ${figure(integralRatio)} + 0.6 / ${tau} × ${excess} = ${figure(share)}${outcome}.`,
  ];
}

function keptWords({ keptRatio, calmSeconds }: NonNullable<AdmissionExplanation['control']>): string {
  return keptRatio === 1 ? '' : ` × ${figure(keptRatio)}, as it has been calm for ${duration(calmSeconds)},`;
}

function gainLines(gain: GainExplanation | null, equal: boolean): readonly string[] {
  if (gain === null) return [];
  const { value, intervalSeconds, delaySeconds, lagSeconds, staySeconds, trust } = gain;
  const remaining = gain.remainingRatio;
  const age = intervalSeconds + delaySeconds + 2 * lagSeconds;
  const lag = lagSeconds > 0 ? ` + twice a lag of ${figure(lagSeconds)} s` : '';
  const limited = gain.feedback > gain.limit;
  return [
    `Gain ${figure(value)}: how strongly weights answer to a difference in load.`,
    `  A sample is ${figure(age)} s old before weights of a newer one are in force (Interval ${figure(intervalSeconds)} s + delay ${figure(delaySeconds)} s${lag}),`,
    ...(lagSeconds > 0 ? [`  as requests show in the metrics only so long after weights sent them,`] : []),
    `  and a request stays ${figure(staySeconds)} s: exp(-${figure(age)} / ${figure(staySeconds)}) = ${figure(remaining)} of what it counted is still there.`,
    `  ${figure(trust)} × ${figure(remaining)} / (1 - ${figure(remaining)}) = ${figure(gain.feedback)}, ${limited ? 'limited to' : 'below the limit of'} ${figure(gain.limit)}: ${figure(gain.meanInsideRequests)} requests inside on average / 16, but 1 to 3.`,
    ...(equal
      ? [
          '  So a sample is older than requests stay, and nothing else tells the backends apart: all weights are equal, with which a sidecar sends each',
          '  request to the less busy one of two that it draws. What the load would make of them follows all the same.',
        ]
      : []),
  ];
}

function signalLines({
  signals,
  mostQueuedInMeans: most,
  policy,
  meanScore,
}: DecisionExplanation): readonly string[] {
  if (signals.length === 0) return [];
  const heading =
    policy === 'Linear'
      ? `Compared by score, 0 to 100; the mean is ${figure(meanScore ?? 0)}. Requests are per unit of configured weight:`
      : 'Compared with the means; requests are per unit of configured weight, those inside are queued and running:';
  const lines = signals.map((signal) => `  ${signalLine(signal, policy === 'Linear')}`);
  const limit = `  In the means the queue of a saturated backend counts as ${figure(most ?? 0)} at most, 4 and twice the median.`;
  return [heading, ...lines, ...(most === null ? [] : [limit])];
}

function signalLine({ name, part, mean, scale, least, spread }: SignalExplanation, linear: boolean): string {
  const how = linear
    ? `100 at ${figure(least)}, 0 at ${figure(least + spread)}`
    : `mean ${figure(mean)}, in units of ${figure(scale)}${scale === LEAST_UNITS[name] ? ', the least' : ''}`;
  return `${SIGNAL_WORDS[name]}: ${how}, counts ${figure(part)}`;
}

function speedLines(speed: SpeedExplanation | null): readonly string[] {
  if (speed === null) return [];
  const { backends, finishedRequests, runningSeconds, secondsPerRequest, exponent } = speed;
  const chance =
    exponent === 0
      ? 'their differences may be chance, so that all count as equally fast'
      : `of their differences ${percent(exponent)} counts, the rest may be chance`;
  return [
    `Speed: of late ${plural(backends, 'backend')} finished ${figure(finishedRequests)} requests in ${figure(runningSeconds)} s of running, ${figure(secondsPerRequest)} s for each; ${chance}.`,
  ];
}

function saturationLines(saturation: SaturationExplanation | null): readonly string[] {
  if (saturation === null) return [];
  const { queuedMarkRequests, queuedClearRequests: clear, kvCacheMarkRatio } = saturation;
  const { runningMarkRequests, runningClearRequests } = saturation;
  const orRunning = runningMarkRequests === null ? '' : `, or above ${figure(runningMarkRequests)} running`;
  const andRunning = runningClearRequests === null ? '' : ` and ${figure(runningClearRequests)} running`;
  return [
    `Saturated: above ${figure(queuedMarkRequests)} queued, or from ${figure(kvCacheMarkRatio)} of the KV cache with more than ${figure(clear)} queued${orRunning}; until at most ${figure(clear)} are queued${andRunning}.`,
  ];
}

import {
  type Admission,
  type AdmissionTimes,
  admit,
  controlOf,
  disengaged,
  INITIAL_ADMISSION,
  TARGET_SECONDS,
  type Wait,
  waitOf,
} from './admission.ts';
import { at } from './at.ts';
import type { Freshness } from './freshness.ts';
import type { BackendMemory } from './memory.ts';
import type { AdmissionDecision, AdmissionFigures, SheddingBasis } from './model/admission.ts';
import type { SaturationSettings } from './model/balance-settings.ts';
import { type Overload, viewQueues } from './overload.ts';

export interface Shedding {
  /** To be remembered. */
  readonly admission: Admission;
  readonly decision: AdmissionDecision;
}

/**
 * The share of requests that sidecars are to refuse by themselves. It stands while nobody usable answers, and ends as
 * soon as weights no longer rest on samples.
 * @param memories of the previous evaluation and of this one, in roster order
 * @param saturation undefined: nothing is ever saturated
 */
export function shed(
  before: Admission,
  memories: { readonly past: readonly BackendMemory[]; readonly present: readonly BackendMemory[] },
  { kind, uses }: Freshness,
  saturation: SaturationSettings | undefined,
  times: AdmissionTimes,
): Shedding {
  if (saturation === undefined || saturation.admission === 'None') {
    return { admission: INITIAL_ADMISSION, decision: { kind: 'disabled' } };
  }
  switch (kind) {
    case 'kept':
      return standing(before);
    case 'blind':
    case 'standstill':
    case 'empty':
      return { admission: disengaged(before), decision: { kind: 'off', figures: undefined } };
    case 'seen':
      return shedBySamples(restsOnFrozen(memories) ? disengaged(before) : before, memories, uses, times);
  }
}

/** Whether half of the samples that the share comes from turn out to be of gauges that stand still: it is refused for nothing. */
function restsOnFrozen({ past, present }: Parameters<typeof shed>[1]): boolean {
  let believed = 0;
  let frozen = 0;
  for (const [index, { frozen: was, sample }] of past.entries()) {
    if (was || sample === undefined) continue;
    believed++;
    if (at(present, index).frozen) frozen++;
  }
  return frozen > 0 && 2 * frozen >= believed;
}

function shedBySamples(
  before: Admission,
  { past, present }: Parameters<typeof shed>[1],
  uses: Freshness['uses'],
  times: AdmissionTimes,
): Shedding {
  const view = viewQueues(past, present, uses, times.intervalSeconds, before.lacksCounter);
  switch (view.kind) {
    case 'unseen':
      return standing(before);
    case 'lacking': {
      const reason = `no backend that answers has a metric of ${view.metric}`;
      const lacksCounter = before.lacksCounter || view.metric === 'finished requests';
      const admission = { ...disengaged(before), lacksCounter };
      return { admission, decision: { kind: 'unavailable', reason } };
    }
    case 'queues':
      return shedByQueues({ ...before, lacksCounter: false }, view.overload, times);
  }
}

function shedByQueues(before: Admission, overload: Overload, times: AdmissionTimes): Shedding {
  const admission = admit(before, overload, times);
  if (admission.busy.seconds === 0) return decided(admission, undefined, { kind: 'unmeasured' });
  const wait = waitOf(admission, overload);
  const figures = figuresOf(wait, overload);
  return decided(admission, figures, { kind: 'measured', figures, control: controlOf(before, wait, times) });
}

function standing(before: Admission): Shedding {
  return decided(before.engaged ? before : disengaged(before), undefined, { kind: 'standing' });
}

function decided(
  admission: Admission,
  figures: AdmissionFigures | undefined,
  basis: SheddingBasis,
): Shedding {
  const { share, sparedUpTo, engaged } = admission;
  if (share > 0) return { admission, decision: { kind: 'shedding', share, sparedUpTo, basis } };
  if (engaged) return { admission, decision: { kind: 'engaged', sparedUpTo, basis } };
  return { admission, decision: { kind: 'off', ...(sparedUpTo !== undefined && { sparedUpTo }), figures } };
}

function figuresOf(
  { finishedPerSecond, seconds, medianSeconds, engagedAbove }: Wait,
  overload: Overload,
): AdmissionFigures {
  const { backends, marked, medianQueued, meanQueued } = overload;
  return {
    backends,
    marked,
    medianQueued,
    meanQueued,
    finishedPerSecond,
    waitSeconds: seconds,
    medianWaitSeconds: medianSeconds,
    engagedAboveSeconds: engagedAbove,
    targetSeconds: TARGET_SECONDS,
  };
}

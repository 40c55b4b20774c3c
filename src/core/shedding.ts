import { type Admission, admit, disengaged, INITIAL_ADMISSION, TARGET_SECONDS, waitOf } from './admission.ts';
import type { Freshness } from './freshness.ts';
import type { BackendMemory } from './memory.ts';
import type { AdmissionDecision, AdmissionFigures, LoadAwareSettings } from './model.ts';
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
 */
export function shed(
  before: Admission,
  memories: { readonly past: readonly BackendMemory[]; readonly present: readonly BackendMemory[] },
  { kind, uses }: Freshness,
  { balance: { saturation }, collect: { intervalSeconds } }: LoadAwareSettings,
): Shedding {
  if (saturation === undefined || saturation.admission === 'None') {
    return { admission: INITIAL_ADMISSION, decision: { kind: 'disabled' } };
  }
  switch (kind) {
    case 'kept':
      return decided(before, undefined);
    case 'blind':
    case 'standstill':
    case 'empty':
      return decided(disengaged(before), undefined);
    case 'seen':
      return shedBySamples(before, memories, uses, intervalSeconds);
  }
}

function shedBySamples(
  before: Admission,
  { past, present }: Parameters<typeof shed>[1],
  uses: Freshness['uses'],
  intervalSeconds: number,
): Shedding {
  const view = viewQueues(past, present, uses, intervalSeconds);
  switch (view.kind) {
    case 'unseen':
      return decided(before, undefined);
    case 'lacking': {
      const reason = `no backend that answers has a metric of ${view.metric}`;
      return { admission: disengaged(before), decision: { kind: 'unavailable', reason } };
    }
    case 'queues': {
      const admission = admit(before, view.overload, intervalSeconds);
      return decided(admission, figuresOf(admission, view.overload));
    }
  }
}

function decided(admission: Admission, figures: AdmissionFigures | undefined): Shedding {
  const { share } = admission;
  const decision: AdmissionDecision =
    share > 0 ? { kind: 'shedding', share, figures } : { kind: 'off', figures };
  return { admission, decision };
}

function figuresOf(admission: Admission, overload: Overload): AdmissionFigures | undefined {
  if (admission.busy.seconds === 0) return undefined;
  const { finishedPerSecond, seconds, medianSeconds, engagedAbove } = waitOf(admission, overload);
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

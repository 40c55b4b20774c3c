import { at } from './at.ts';
import { TRICKLE } from './frozen.ts';
import { isMarked, isSpared } from './health.ts';
import type { BackendMemory } from './memory.ts';
import type { MarkSettings } from './model/balance-settings.ts';
import type { BackendDecision } from './model/decision.ts';
import type { Outcome } from './outcome.ts';

type Decision = Omit<BackendDecision, 'reasons'>;

/** Difference of a learned capacity from 1 that is worth a sentence. */
const WORTH_TELLING = 0.01;
const PROMPTS_WORTH_TELLING = 0.05;

/**
 * What shaped a decision, for people, what decides most first: silence, saturation, then in the order of the rule.
 * @param index of the backend in the roster
 */
export function reasonsOf(decision: Decision, outcome: Outcome, index: number): readonly string[] {
  const { nowMs, freshness, weighing, settings } = outcome;
  const memory = at(outcome.memories, index);
  if (decision.use === 'aside') return ['configured weight 0: takes no traffic'];
  const silence = sampleReason(decision, memory, nowMs, freshness.widespread);
  if (decision.use === 'draining') return [silence ?? ''];
  const reasons = [
    silence,
    saturationReason(decision, outcome),
    settings === undefined ? 'no load-aware extension: configured weight' : undefined,
    ...(weighing.alike && at(weighing.weights, index) > 0
      ? ['what is known of the load is older than a request stays: all weights are equal']
      : [
          loadReason(at(weighing.factors, index)),
          promptReason(decision),
          weighing.loads === undefined ? undefined : capacityReason(decision),
        ]),
    trustReason(decision),
    slowStartReason(decision.slowStart, memory, nowMs),
    sparedReason(decision, memory, outcome),
  ];
  return reasons.filter((reason) => reason !== undefined);
}

function sampleReason(
  { use, missed, failure }: Decision,
  memory: BackendMemory,
  nowMs: number,
  widespread: boolean,
): string | undefined {
  const cause = failure === undefined ? '' : `${failure.message}, `;
  const collections = missed === 1 ? 'collection' : 'collections';
  const silence =
    missed === 0
      ? 'no answer yet to a collection that came early'
      : `${cause}no metrics in ${missed} ${collections}`;
  switch (use) {
    case 'fresh':
    case 'aside':
      return undefined;
    case 'last':
      return `${silence}: its last sample counts`;
    case 'worst':
      return `${silence}: the worst of the others counts`;
    case 'mean':
      return `${silence}: the mean counts, as ${whyMean(memory, widespread)}`;
    case 'frozen':
      return `gauges stand still for ${seconds(nowMs - memory.steadySinceMs)}: at most ${TRICKLE} of the mean weight`;
    case 'draining':
      return `draining: it ends what it has begun, and gets nothing new${missed === 0 ? '' : `; ${silence}`}`;
    case 'asleep':
      return `asleep: out of the assignment until it wakes${missed === 0 ? '' : `, and ${silence}`}`;
    case 'removed':
      return `${silence}: out of the assignment until it answers`;
    case 'none':
      return missed === 0 ? undefined : silence;
  }
}

function whyMean({ sample }: BackendMemory, widespread: boolean): string {
  if (sample === undefined) return 'it has never given any';
  return widespread ? 'too many are missing' : 'its last sample is too old';
}

function loadReason(factor: number): string | undefined {
  if (factor === 1) return undefined;
  return `${factor < 1 ? 'heavier' : 'lighter'} than the mean: weight × ${short(factor)}`;
}

function promptReason({ basis: { prompts } }: Decision): string | undefined {
  if (prompts === undefined || prompts.free > 1 - PROMPTS_WORTH_TELLING) return undefined;
  return `computes prompts for ${short(prompts.seconds)} s, others wait: weight × ${short(prompts.free)}`;
}

function capacityReason({ capacity, basis: { residual, speed } }: Decision): string | undefined {
  if (Math.abs(capacity - 1) < WORTH_TELLING) return undefined;
  const parts = speed === 1 ? '' : ` (residual × ${short(residual)}, speed × ${short(speed)})`;
  return `learned capacity: weight × ${short(capacity)}${parts}`;
}

/** Where its gauges would bring it more. */
function trustReason({ use, basis: { intake } }: Decision): string | undefined {
  if (intake === undefined || intake.trust === 1 || use !== 'fresh') return undefined;
  return `its metrics show less than it takes: what they show below the mean counts ${short(intake.trust)} times`;
}

function slowStartReason(
  limit: number | undefined,
  { joinedAtMs }: BackendMemory,
  nowMs: number,
): string | undefined {
  if (limit === undefined || joinedAtMs === undefined) return undefined;
  return `slow start, joined ${seconds(nowMs - joinedAtMs)} ago: at most ${short(limit)} of the mean weight`;
}

/** The metric that set the mark, as it is now; the queue besides, as it has to be short before the mark goes. */
function saturationReason(
  { saturated, sample, markCause }: Decision,
  { settings }: Outcome,
): string | undefined {
  const saturation = settings?.balance.saturation;
  if (!saturated || sample === undefined || saturation === undefined) return undefined;
  const { totalQueuedRequests, kvCacheUtilization, runningRequests } = saturation;
  const queued = `${sample.queued ?? 'unknown'} queued`;
  const clear = `${queued} (cleared at ${totalQueuedRequests.clear})`;
  switch (markCause?.metric) {
    case 'KVCacheUtilization':
      return `saturated: KV cache ${sample.kvUtilization === undefined ? 'unknown' : short(sample.kvUtilization)} (marked from ${kvCacheUtilization.mark} with a queue), ${clear}`;
    case 'RunningRequests':
      return runningRequests === undefined
        ? `saturated: ${clear}`
        : `saturated: ${sample.running ?? 'unknown'} running (${inWords(runningRequests)}), ${clear}`;
    case 'TotalQueuedRequests':
    case undefined:
      return `saturated: ${queued} (${inWords(totalQueuedRequests)})`;
  }
}

/** See health: while marks count, a marked backend that is not spared is HEALTHY only where nobody else is. */
function sparedReason(
  { health }: Decision,
  memory: BackendMemory,
  { freshness: { kind }, sparedUpTo }: Outcome,
): string | undefined {
  if (health !== 'HEALTHY' || !isMarked(memory) || kind === 'blind') return undefined;
  if (kind === 'kept')
    return 'above its mark, but healthy as published before, since no backend gives metrics';
  if (isSpared(memory, sparedUpTo)) {
    return 'above its mark, as others are: healthy while the overload lasts';
  }
  return 'saturated when it last gave metrics, but every backend that gives some is: healthy until it does';
}

function inWords({ mark, clear }: MarkSettings): string {
  return `marked above ${mark}, cleared at ${clear}`;
}

function seconds(milliseconds: number): string {
  return `${short(milliseconds / 1000)} s`;
}

/** Two decimals at most. */
function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

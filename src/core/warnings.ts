import { at } from './at.ts';
import { type Freshness, isUsable } from './freshness.ts';
import type { BackendMemory } from './memory.ts';
import type { AdmissionDecision } from './model/admission.ts';
import type { Backend } from './model/backend.ts';
import type { ScorerName } from './model/balance-settings.ts';
import type { LoadAwareSettings } from './model/server-group.ts';
import { standingSeconds } from './outdated.ts';
import type { Roster } from './roster.ts';

const NAMES_SHOWN = 5;

/**
 * What an operator should know of the group. The words stay the same while the state does, so that a log can say
 * when one begins and ends.
 * @param situation `memories` and `doubted` (1: is) in roster order; `lacking`: scorers whose metric is not to be had; `saturated`: how
 *   much of the group, by what sidecars have from here on, or would have where `observing`
 */
export function warningsOf(situation: {
  readonly settings: LoadAwareSettings;
  readonly roster: Roster;
  readonly memories: readonly BackendMemory[];
  readonly freshness: Freshness;
  readonly doubted: Float64Array;
  readonly lacking: readonly ScorerName[];
  readonly shedding: AdmissionDecision;
  readonly saturated: 'all' | 'half' | undefined;
  readonly observing: boolean;
  /** Of zones; undefined: none. */
  readonly zones: string | undefined;
}): readonly string[] {
  const { settings, roster, memories, freshness, doubted, shedding, saturated, observing } = situation;
  const warnings: string[] = [];
  const asleep = roster.backends.filter((_, index) => at(freshness.uses, index) === 'asleep');
  const group = groupWarning(freshness, settings.collect.intervalSeconds, roster, asleep.length > 0);
  if (group !== undefined) warnings.push(group);
  if (asleep.length > 0) warnings.push(`asleep: ${names(asleep)}`);
  if (freshness.kind === 'seen') {
    warnings.push(...lackingWarnings(situation));
    if (freshness.widespread) {
      warnings.push(
        'more than a quarter of the backends miss two collections or more: they count as average',
      );
    }
  }
  const frozen = roster.backends.filter(({ weight }, index) => weight > 0 && at(memories, index).frozen);
  if (frozen.length > 0) warnings.push(`gauges stand still: ${names(frozen)}`);
  const notBelieved = roster.backends.filter(({ weight }, index) => weight > 0 && at(doubted, index) === 1);
  if (notBelieved.length > 0)
    warnings.push(`metrics are doubted, they show less than is taken: ${names(notBelieved)}`);
  const overload = overloadWarning(shedding, observing);
  if (overload !== undefined) warnings.push(overload);
  if (saturated === 'all') {
    const answer = observing ? 'with Mode: Active sidecars would answer 503' : 'sidecars answer 503';
    warnings.push(`every backend is saturated: ${answer}`);
  }
  if (saturated === 'half') {
    const answer = observing
      ? 'with Mode: Active the others would take what comes'
      : 'the others take what comes';
    warnings.push(`half of the backends or more are saturated: ${answer}`);
  }
  if (situation.zones !== undefined) warnings.push(situation.zones);
  return warnings;
}

function groupWarning(
  { kind }: Freshness,
  intervalSeconds: number,
  { backends, draining }: Roster,
  someSleep: boolean,
): string | undefined {
  switch (kind) {
    case 'seen':
      return undefined;
    case 'kept':
      return `no backend gives metrics: what is published stands for ${standingSeconds(intervalSeconds)} s`;
    case 'blind':
      return 'no backend gives metrics: configured weights, all healthy';
    case 'standstill':
      return 'the gauges of all backends that answer stand still: configured weights';
    case 'empty':
      if (backends.length === 0) return 'there is no backend: the assignment is empty, sidecars answer 503';
      if (draining.length > 0) return 'every backend is draining or asleep: sidecars answer 503';
      return someSleep
        ? 'every backend is asleep: the assignment is empty, sidecars answer 503'
        : 'no backend with a weight above 0: the assignment is empty';
  }
}

/** Without the share, which is another one at each evaluation. */
function overloadWarning(shedding: AdmissionDecision, observing: boolean): string | undefined {
  switch (shedding.kind) {
    case 'disabled':
    case 'off':
    case 'engaged':
      return undefined;
    case 'unavailable':
      return `Saturation.Admission has nothing to go by: ${shedding.reason}; only marks ${observing ? 'would ' : ''}protect the backends`;
    case 'shedding':
      return observing
        ? 'overload: with Mode: Active sidecars would refuse a share of the requests with 503'
        : 'overload: sidecars refuse a share of the requests with 503';
  }
}

function lackingWarnings(situation: Parameters<typeof warningsOf>[0]): readonly string[] {
  const { settings, roster, memories, freshness, lacking } = situation;
  const { scorers } = settings.balance;
  const all = scorers.every(({ name, weight }) => weight === 0 || lacking.includes(name));
  if (all) return [`no backend load to weigh, ${lacking.join(', ')} not to be had: configured weights`];
  return lacking.map((name) => {
    const without = roster.backends.filter(
      (_, index) => isUsable(at(freshness.uses, index)) && lacksMetric(at(memories, index), name),
    );
    return `scorer ${name} is left out: its metric is not to be had of ${names(without)}`;
  });
}

function lacksMetric({ sample }: BackendMemory, scorer: ScorerName): boolean {
  switch (scorer) {
    case 'TotalQueuedRequests':
      return sample?.queued === undefined;
    case 'KVCacheUtilization':
      return sample?.kvUtilization === undefined;
    case 'RunningRequests':
      return sample?.running === undefined;
  }
}

function names(backends: readonly Backend[]): string {
  const shown = backends.slice(0, NAMES_SHOWN).map(({ id }) => id);
  const more = backends.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

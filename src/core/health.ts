import type { Admission } from './admission.ts';
import { at } from './at.ts';
import type { Proposal } from './dither.ts';
import { type Freshness, isUsable } from './freshness.ts';
import { keptHealths } from './kept.ts';
import type { BackendMemory } from './memory.ts';
import type { EndpointHealth } from './model/assignment.ts';
import type { LoadAwareSettings } from './model/server-group.ts';
import type { Roster } from './roster.ts';
import { UNMARKED } from './saturation.ts';

export interface HealthInput {
  readonly settings: LoadAwareSettings;
  readonly roster: Roster;
  readonly memories: readonly BackendMemory[];
  readonly freshness: Freshness;
  /** In roster order; 0: not in the assignment. */
  readonly weights: Float64Array;
  /** Queue up to which a backend above its mark is spared in an overload; undefined: none is. */
  readonly sparedUpTo: number | undefined;
  /** What sidecars have so far. */
  readonly published: Proposal | undefined;
}

/** Health of each backend, in roster order. Nobody is kept out on a load that is not known. */
export function healthsOf(input: HealthInput): readonly EndpointHealth[] {
  const { settings, roster, freshness, published } = input;
  switch (freshness.kind) {
    case 'seen':
    case 'standstill':
      return healthsByMark(input);
    case 'kept':
      // Turning saturation off counts at once.
      return keptHealths(settings.balance.saturation === undefined ? undefined : published, roster);
    case 'blind':
    case 'empty':
      return roster.backends.map(() => 'HEALTHY');
  }
}

/** Whether it counts as saturated, by a sample of whatever age. Gauges that stand still say nothing. */
export function isMarked({ mark, frozen }: BackendMemory): boolean {
  return mark.saturated && !frozen;
}

/**
 * Saturated is UNHEALTHY. But that may be everybody only on samples that count: where nobody else is left those whose
 * mark is of an older one are HEALTHY. A first miss does not make it older: under overload answers are late now and then,
 * and each of them would draw the whole group's traffic to one saturated backend.
 */
function healthsByMark({ memories, freshness, weights, sparedUpTo }: HealthInput): readonly EndpointHealth[] {
  const isOut = (memory: BackendMemory): boolean => isMarked(memory) && !isSpared(memory, sparedUpTo);
  const nobodyElse = memories.every((memory, index) => at(weights, index) === 0 || isOut(memory));
  return memories.map((memory, index) => {
    const unknown = nobodyElse && !isUsable(at(freshness.uses, index));
    return isOut(memory) && !unknown ? 'UNHEALTHY' : 'HEALTHY';
  });
}

/** In an overload a queue like the others' keeps nobody out. A limit of running requests is another thing. */
export function isSpared({ sample, mark }: BackendMemory, sparedUpTo: number | undefined): boolean {
  if (sparedUpTo === undefined || mark.overRunning) return false;
  return (sample?.queued ?? Number.NaN) <= sparedUpTo;
}

/**
 * What is remembered after this evaluation. Where it ends an overload, without the marks that it spared: they come again
 * where more queue than at the mark. Else backends would be out all at once as the load has fallen, until they are cleared.
 */
export function marksAfter(
  { engaged, sparedUpTo }: Pick<Admission, 'engaged' | 'sparedUpTo'>,
  memories: readonly BackendMemory[],
): readonly BackendMemory[] {
  if (engaged || sparedUpTo === undefined) return memories;
  return memories.map((memory) => (isSpared(memory, sparedUpTo) ? { ...memory, mark: UNMARKED } : memory));
}

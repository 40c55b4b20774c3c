import { at } from './at.ts';
import { type BackendMemory, isFresh } from './memory.ts';
import type { SampleUse } from './model/decision.ts';
import type { LoadAwareSettings } from './model/server-group.ts';
import { isOutdated } from './outdated.ts';
import type { Roster } from './roster.ts';

/** How far the group's samples can be relied on, and which sample counts for each backend (in roster order). */
export interface Freshness {
  readonly kind:
    | 'seen'
    /** Nobody answered: what is published stands. */
    | 'kept'
    /** Nobody has answered for long: configured weights, all healthy. */
    | 'blind'
    /** All that answer are frozen: configured weights. */
    | 'standstill'
    /** No backend takes traffic. */
    | 'empty';
  readonly uses: readonly SampleUse[];
  /** So many miss their second collection or a later one that no single backend is to blame. */
  readonly widespread: boolean;
}

export interface FreshnessInput {
  readonly roster: Roster;
  readonly memories: readonly BackendMemory[];
  readonly settings: LoadAwareSettings;
  readonly nowMs: number;
  /** Whether a backend that is still there has a published weight. */
  readonly published: boolean;
}

/**
 * Decides on the group first, then on each backend: the first case that fits counts. Whoever
 * has not missed a collection is there: in a run that came early it may only not have answered yet.
 */
export function judgeFreshness(input: FreshnessInput): Freshness {
  const { roster, memories } = input;
  const someThere = roster.shares.some((share, index) => share > 0 && at(memories, index).missed === 0);
  const widespread = isWidespread(roster, memories);
  const judged = (kind: Freshness['kind'], use: (index: number) => SampleUse): Freshness => {
    const uses = roster.backends.map(({ weight, draining }, index) => {
      if (weight === 0) return 'aside';
      if (at(memories, index).asleepAtMs !== undefined) return 'asleep';
      return draining === true ? 'draining' : use(index);
    });
    return { kind, uses, widespread };
  };
  if (roster.active === 0) return judged('empty', () => 'none');
  if (!someThere) return judged(isKept(input) ? 'kept' : 'blind', () => 'none');
  const seen = judged('seen', (index) => sampleUse(at(memories, index), widespread, input));
  return seen.uses.some(isUsable) ? seen : judged('standstill', (index) => idleUse(at(seen.uses, index)));
}

/** Whether the rule compares this backend's own sample. */
export function isUsable(use: SampleUse): boolean {
  return use === 'fresh' || use === 'last';
}

function isWidespread(roster: Roster, memories: readonly BackendMemory[]): boolean {
  let missing = 0;
  for (let index = 0; index < memories.length; index++) {
    if (at(memories, index).missed >= 2 && at(roster.shares, index) > 0) missing++;
  }
  return missing > Math.max(1, roster.active / 4);
}

/** The silence begins with the last sample of the group, as it does for each backend with its own. */
function isKept({ roster, memories, settings, nowMs, published }: FreshnessInput): boolean {
  if (settings.balance.onCollectFailure === 'Remove' || !published) return false;
  let latestMs = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < memories.length; index++) {
    if (at(roster.shares, index) > 0) latestMs = Math.max(latestMs, at(memories, index).sampledAtMs);
  }
  return !isOutdated(nowMs - latestMs, settings.collect.intervalSeconds);
}

/** Asked only when somebody in the group is there, so that a refusal is never everybody's. */
function sampleUse(
  memory: BackendMemory,
  widespread: boolean,
  { settings, nowMs }: FreshnessInput,
): SampleUse {
  const { missed, failure, sample, sampledAtMs, frozen } = memory;
  if (missed >= 1) {
    if (settings.balance.onCollectFailure === 'Remove') return 'removed';
    if (failure?.kind === 'refused') return 'worst';
  }
  if (sample === undefined) return 'mean';
  if (frozen) return 'frozen';
  if (isFresh(memory)) return 'fresh';
  if (missed <= 1) return 'last';
  if (widespread) return 'mean';
  return isOutdated(nowMs - sampledAtMs, settings.collect.intervalSeconds) ? 'mean' : 'worst';
}

/** Without a usable sample in the group there is nothing to put in for those that miss one. */
function idleUse(use: SampleUse): SampleUse {
  return use === 'frozen' || use === 'removed' ? use : 'none';
}
